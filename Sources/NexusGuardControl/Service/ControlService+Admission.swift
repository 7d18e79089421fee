// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP
internal import FoundationEssentials

extension ControlService {
    /// Finds the device of a request, checks that the device sent it, now and for the first time, and notes it.
    ///
    /// - Parameters:
    ///   - id: The device that the request says it is from.
    ///   - report: What the device says of itself, if it does.
    /// - Returns: The device, which may be revoked, and how far its clock is ahead of the server's.
    func admit(
        _ request: ServerRequest, from id: String, report: DeviceRecord.Report?
    ) async throws(RequestError) -> (DeviceRecord, clockLead: TimeInterval) {
        let found = try await stored { () async throws(StoreError) in try await store.device(id) }
        guard let known = found else { throw .refused(.unknownDevice) }
        let now = clock.now()
        var nonce: (text: String, until: Date)?
        var clockLead: TimeInterval = 0
        if let header = request.header("Authorization") {
            let proof = try verified(header, of: request, from: known)
            let sentAt = Date(timeIntervalSince1970: Double(proof.timestamp))
            clockLead = sentAt.timeIntervalSince(now)
            let second = Int64(now.timeIntervalSince1970.rounded(.down))
            guard proof.isTimely(now: second) else {
                throw .refused(
                    .unauthorized(
                        "clock-skew",
                        "the request is more than \(RequestAuthorization.largestSkew) s old or early"))
            }
            // Behind the last second in which the request is timely, its time alone refuses it.
            let tolerance = TimeInterval(RequestAuthorization.largestSkew + 1)
            nonce = (Hexadecimal.text(proof.nonce), sentAt.addingTimeInterval(tolerance))
        } else if settings.requiresAuthentication {
            throw .refused(.unauthorized("unauthenticated", "the request has no Authorization"))
        }
        let contact = Contact(deviceID: id, at: now, nonce: nonce, report: report)
        switch try await stored({ () async throws(StoreError) in try await store.note(contact) }) {
        case .accepted(let device): return (device, clockLead)
        case .replayed:
            log.add(
                level: .warn, tag: "authentication",
                message: "a request of device \(DeviceIDMask.mask(id)) came a second time")
            throw .refused(.unauthorized("replayed", "the request came before"))
        case .tooMany:
            throw .refused(
                Refusal(
                    status: 429, code: "too-many-requests", message: "the device sends too many requests",
                    retryAfter: .seconds(60)))
        case .unknownDevice: throw .refused(.unknownDevice)
        }
    }

    /// Reads the proof of a request and checks all of it but time and nonce.
    private func verified(
        _ header: String, of request: ServerRequest, from device: DeviceRecord
    ) throws(RequestError) -> RequestAuthorization {
        // The header may be there once only: a proxy in between could look at another one.
        let count = request.headers.filter { $0.name.lowercased() == "authorization" }.count
        guard count == 1, let proof = RequestAuthorization(header: header) else {
            throw .refused(
                .unauthorized("unauthenticated", "the Authorization is not of the form that is asked"))
        }
        guard proof.deviceID == device.id,
            proof.isValid(
                method: request.method, path: request.path, body: request.body, key: device.provisioningKey)
        else {
            log.add(
                level: .warn, tag: "authentication",
                message: "a request for device \(DeviceIDMask.mask(device.id)) is not from it")
            throw .refused(.unauthorized("unauthenticated", "the Authorization does not fit the request"))
        }
        return proof
    }
}
