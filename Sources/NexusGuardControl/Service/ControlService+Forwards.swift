// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP
internal import FoundationEssentials

extension ControlService {
    /// `GET /api/v1/forwards?device_id=…`: the forwards of a device.
    func forwards(_ request: ServerRequest) async throws(RequestError) -> ServerResponse {
        let ids = request.query.filter { $0.name == "device_id" }.map(\.value)
        guard ids.count == 1, let id = ids.first, !id.isEmpty, id.utf8.count <= DeviceIDMask.longestDeviceID
        else {
            throw .refused(.malformed("device_id: must be there once, with 1 to 128 bytes"))
        }
        let (device, _) = try await admit(request, from: id, report: nil)
        guard device.revocation == nil else { throw .refused(Self.gone) }
        let forwards = try await forwards(of: device)
        let hash = ForwardsHash.text(forwards)
        let tag = "\"\(hash)\""
        if let condition = request.header("If-None-Match"), EntityTags.contains(tag, in: condition) {
            return ServerResponse(status: 304, headers: [(name: "ETag", value: tag)])
        }
        var response = ServerResponse.json(
            ForwardsResponse(forwards: forwards, forwardsHash: hash).json())
        response.headers = response.headers.filter { $0.name != "Cache-Control" }
        response.headers.append((name: "Cache-Control", value: "private, no-cache"))
        response.headers.append((name: "ETag", value: tag))
        return response
    }

    /// `POST /api/v1/deprovision`: a device gives its identity back. Asked again, it is told the same.
    func deprovision(_ request: ServerRequest) async throws(RequestError) -> ServerResponse {
        let id: String
        do {
            id = try DeprovisionRequest(parsing: request.body).deviceID
        } catch {
            throw .refused(.malformed(error))
        }
        let (device, _) = try await admit(request, from: id, report: nil)
        let now = clock.now()
        let isNews = try await stored { () async throws(StoreError) in
            try await store.revokeDevice(device.id, as: .deprovisioned, at: now)
        }
        if isNews {
            log.add(
                level: .info, tag: "deprovision",
                message: "device \(DeviceIDMask.mask(device.id)) gave its identity back")
            await announceChange()
        }
        return ServerResponse(status: 204, headers: [(name: "Cache-Control", value: "no-store")])
    }

    /// The forwards of a device.
    func forwards(of device: DeviceRecord) async throws(RequestError) -> [PortForward] {
        try await stored { () async throws(StoreError) in
            try await store.forwards(of: device.id).map(\.forward)
        }
    }

    private static let gone = Refusal(
        status: 410, code: "revoked", message: "the device lost its identity on this server")
}
