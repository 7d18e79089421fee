// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import CAgentPage

/// The files of the page, which are within the executable.
struct PageFiles: Sendable {
    /// One file.
    struct File: Sendable {
        /// Its name, which is its path without the slash.
        let name: String
        /// Its content.
        let content: [UInt8]
        /// A strong entity tag (RFC 9110, section 8.8.3) with its quotation marks.
        let tag: String
        /// The media type.
        let type: String
    }

    /// The files that this version has.
    static let embedded = PageFiles()

    private let files: [String: File]

    private init() {
        var files: [String: File] = [:]
        var entry = ng_page_first_file()
        while let file = entry?.pointee, let name = file.name, let content = file.content {
            let file = File(
                name: String(cString: name), content: Array(String(cString: content).utf8))
            files[file.name] = file
            entry = entry?.successor()
        }
        self.files = files
    }

    /// The names of all files.
    var names: [String] { files.keys.sorted() }

    /// The file at a path; `/` is the start page.
    func file(at path: String) -> File? { files[path == "/" ? "index.html" : String(path.dropFirst())] }

    /// The answer to a request for a file.
    ///
    /// Browsers keep files and ask each time whether they are still right: another version of the agent may have others.
    static func response(_ file: File, to request: ServerRequest) -> ServerResponse {
        let headers = [("Content-Type", file.type), ("Cache-Control", "no-cache"), ("ETag", file.tag)]
        if let known = request.header("If-None-Match"), isMatch(known, tag: file.tag) {
            return ServerResponse(status: 304, headers: headers)
        }
        return ServerResponse(status: 200, headers: headers, body: file.content)
    }

    /// Whether a list of tags names one, by the weak comparison that this field asks for (RFC 9110, section 13.1.2).
    private static func isMatch(_ list: String, tag: String) -> Bool {
        list.split(separator: ",").contains { item in
            let item = item.filter { $0 != " " && $0 != "\t" }
            return item == "*" || item == tag || item == "W/" + tag
        }
    }
}

extension PageFiles.File {
    init(name: String, content: [UInt8]) {
        self.name = name
        self.content = content
        tag = "\"\(PageDigest(of: String(decoding: content, as: UTF8.self)).hexadecimal)\""
        type =
            switch name.split(separator: ".").last {
            case "html": "text/html; charset=utf-8"
            case "css": "text/css; charset=utf-8"
            case "js": "text/javascript; charset=utf-8"
            case "svg": "image/svg+xml"
            case "json": "application/json"
            default: "text/plain; charset=utf-8"
            }
    }
}
