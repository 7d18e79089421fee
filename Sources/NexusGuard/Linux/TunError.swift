// SPDX-License-Identifier: MIT

/// Why a TUN could not be opened or changed.
package enum TunError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name is empty, or has a slash, colon, white space or control character, or is a path of dots.
    case invalidName(String)
    /// The name has more than 15 bytes.
    case nameTooLong(String)
    /// The kernel has no TUN driver, or the container no `/dev/net/tun`.
    case driverMissing
    /// This process may not create interfaces; it needs CAP_NET_ADMIN.
    case notPermitted(String)
    /// An interface with this name exists, or another process holds it.
    case interfaceExists(String)
    /// The descriptor is not open, not one of `/dev/net/tun`, or belongs to no interface.
    case notTunnelDescriptor(Int32)
    /// The descriptor is a TAP, whose packets are Ethernet frames.
    case unsuitableDescriptor(Int32)
    /// Another refusal of the kernel.
    case refused(SystemCallError)

    /// One sentence for the user.
    package var description: String {
        switch self {
        case .invalidName(let name): "\"\(name)\" cannot be the name of an interface"
        case .nameTooLong(let name): "the interface name \"\(name)\" has more than 15 bytes"
        case .driverMissing:
            "/dev/net/tun does not exist: load the module tun, or pass the device to the container"
        case .notPermitted(let name): "creating the interface \(name) needs CAP_NET_ADMIN"
        case .interfaceExists(let name): "an interface named \(name) exists or is in use"
        case .notTunnelDescriptor(let number): "descriptor \(number) is not that of a tunnel interface"
        case .unsuitableDescriptor(let number):
            "descriptor \(number) is that of a TAP; a TUN is needed"
        case .refused(let error): error.description
        }
    }
}
