// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// An open TUN and what the kernel agreed to do for it.
struct TunDescriptor: ~Copyable {
    /// The descriptor, which does not block.
    let number: Int32
    /// The bytes of the virtio header before each packet; 0 for none.
    let virtioByteCount: Int
    /// Whether UDP segments may be handed over as one packet, both ways.
    let hasUDPSegments: Bool

    /// Creates an interface.
    ///
    /// - Parameter name: A name of 1 to 15 bytes; `%d` in it stands for the first free number.
    init(creating name: String) throws(TunError) {
        try Self.validate(name)
        let number: Int32
        do throws(SystemCallError) {
            number = try SystemCall.run("open /dev/net/tun") {
                open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK)
            }
        } catch {
            switch error.errno {
            case ENOENT, ENXIO, ENODEV: throw .driverMissing
            case EPERM, EACCES: throw .notPermitted(name)
            default: throw .refused(error)
            }
        }
        let flags: UInt16
        do throws(SystemCallError) {
            flags = try Self.attach(number, name)
        } catch {
            SystemCall.close(number)
            switch error.errno {
            case EPERM, EACCES: throw .notPermitted(name)
            case EBUSY, EEXIST: throw .interfaceExists(name)
            // What the kernel says when the name is that of an interface which is no TUN.
            case EINVAL where if_nametoindex(name) != 0: throw .interfaceExists(name)
            case EINVAL: throw .invalidName(name)
            default: throw .refused(error)
            }
        }
        (virtioByteCount, hasUDPSegments) = Self.negotiate(number, flags)
        self.number = number
    }

    /// Takes over a descriptor that another process opened and attached to an interface.
    ///
    /// It must be a TUN with `IFF_NO_PI`, which cannot be checked: the kernel reports another flag by the same bit.
    init(adopting number: Int32) throws(TunError) {
        guard number >= 0, SystemCall.isOpen(number) else { throw .notTunnelDescriptor(number) }
        var request = linux_interface_request()
        do throws(SystemCallError) {
            try SystemCall.run("ioctl TUNGETIFF") { linux_ioctl(number, linux_tungetiff, &request) }
        } catch {
            throw .notTunnelDescriptor(number)
        }
        let flags = request.flags
        guard flags & linux_iff_tun != 0 else { throw .unsuitableDescriptor(number) }
        do throws(SystemCallError) {
            let status = try SystemCall.run("fcntl F_GETFL") { fcntl(number, F_GETFL) }
            try SystemCall.run("fcntl F_SETFL") { fcntl(number, F_SETFL, status | O_NONBLOCK) }
            try SystemCall.run("fcntl F_SETFD") { fcntl(number, F_SETFD, FD_CLOEXEC) }
        } catch {
            throw .refused(error)
        }
        (virtioByteCount, hasUDPSegments) = Self.negotiate(number, flags)
        self.number = number
    }

    /// The interface's name now: it may be renamed at any time.
    ///
    /// - Returns: `nil` when the interface is gone.
    var name: String? {
        var request = linux_interface_request()
        let number = number
        let result = SystemCall.orNegativeErrno { linux_ioctl(number, linux_tungetiff, &request) }
        return result < 0 ? nil : InterfaceControl.name(in: request)
    }

    /// A descriptor of the network namespace that the interface is in, to be closed by the caller.
    ///
    /// - Throws: `SystemCallError`; EPERM without CAP_NET_ADMIN in that namespace.
    func namespace() throws(SystemCallError) -> Int32 {
        let number = number
        return try SystemCall.run("ioctl TUNGETDEVNETNS") {
            linux_ioctl_number(number, linux_tungetdevnetns, 0)
        }
    }

    /// Refuses names that the kernel would refuse, with a clearer reason.
    static func validate(_ name: String) throws(TunError) {
        guard name.utf8.count <= 15 else { throw .nameTooLong(name) }
        // The kernel takes bytes; white space is that of its `isspace`, which includes Latin-1's 0xA0.
        let isValid = name.utf8.allSatisfy { byte in
            byte > 0x20 && ![0x2F, 0x3A, 0x7F, 0xA0].contains(byte)
        }
        guard !name.isEmpty, isValid, name != ".", name != ".." else { throw .invalidName(name) }
    }

    /// Attaches an open descriptor to the interface, which is created, and returns the interface's flags.
    private static func attach(_ number: Int32, _ name: String) throws(SystemCallError) -> UInt16 {
        var request = InterfaceControl.request(name)
        request.flags = linux_iff_tun | linux_iff_no_pi | linux_iff_vnet_hdr
        let refusal = SystemCall.orNegativeErrno { linux_ioctl(number, linux_tunsetiff, &request) }
        if refusal >= 0 { return request.flags }
        guard refusal == -EINVAL else { throw SystemCallError(call: "ioctl TUNSETIFF", errno: -refusal) }
        // A persistent interface, made beforehand without virtio headers, is taken as it is.
        request = InterfaceControl.request(name)
        request.flags = linux_iff_tun | linux_iff_no_pi
        try SystemCall.run("ioctl TUNSETIFF") { linux_ioctl(number, linux_tunsetiff, &request) }
        return request.flags
    }

    /// Asks for as much offload as the kernel has.
    private static func negotiate(_ number: Int32, _ flags: UInt16) -> (Int, Bool) {
        guard flags & linux_iff_vnet_hdr != 0 else { return (0, false) }
        var byteCount = Int32(VirtioHeader.byteCount)
        if SystemCall.orNegativeErrno({ linux_ioctl(number, linux_tunsetvnethdrsz, &byteCount) }) < 0 {
            byteCount = Int32(VirtioHeader.byteCount)
            _ = SystemCall.orNegativeErrno { linux_ioctl(number, linux_tungetvnethdrsz, &byteCount) }
        }
        let segments = linux_tun_f_csum | linux_tun_f_tso4 | linux_tun_f_tso6
        let datagrams = segments | linux_tun_f_uso4 | linux_tun_f_uso6
        for offload in [datagrams, segments, linux_tun_f_csum, 0] {
            let result = SystemCall.orNegativeErrno {
                linux_ioctl_number(number, linux_tunsetoffload, offload)
            }
            if result >= 0 { return (Int(byteCount), offload == datagrams) }
        }
        return (Int(byteCount), false)
    }

    deinit {
        SystemCall.close(number)
    }
}
