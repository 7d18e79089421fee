// SPDX-License-Identifier: MIT

package import AgentHTTP
package import AgentHost

/// Why the server cannot run.
package enum ServeError: Error, CustomStringConvertible {
    /// The state cannot be used.
    case store(StoreError)
    /// The requests cannot be served.
    case http(HTTPServerError)
    /// The server peer cannot be started.
    case tunnel(ServerTunnelError)
    /// The interface of the server peer cannot be set up.
    case host(HostError)
    /// Something else.
    case failed(String)

    /// One sentence.
    package var description: String {
        switch self {
        case .store(let error): error.description
        case .http(let error): error.description
        case .tunnel(let error): error.description
        case .host(let error): error.description
        case .failed(let sentence): sentence
        }
    }
}
