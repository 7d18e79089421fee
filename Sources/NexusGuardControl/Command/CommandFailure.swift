// SPDX-License-Identifier: MIT

/// Why a command did not do what it was asked for.
enum CommandFailure: Error {
    /// The store does not work.
    case store(StoreError)
    /// There is no such thing.
    case notFound(String)
    /// What is there already does not allow it.
    case conflict(String)
    /// Something else.
    case failed(String)

    /// The exit status.
    var status: Int32 {
        switch self {
        case .store, .failed: 1
        case .notFound: 3
        case .conflict: 4
        }
    }

    /// One sentence.
    var sentence: String {
        switch self {
        case .store(let error): error.description
        case .notFound(let sentence), .conflict(let sentence), .failed(let sentence): sentence
        }
    }
}
