// SPDX-License-Identifier: MIT

/// The condition of a conditional request (RFC 9110 section 13.1.2).
enum EntityTags {
    /// Whether a list of entity tags has one, compared weakly; `*` has every one.
    ///
    /// - Parameter tag: A strong tag with its quotes; it has no comma within.
    static func contains(_ tag: String, in list: String) -> Bool {
        list.split(separator: ",").contains { item in
            var item = item
            while let first = item.first, first == " " || first == "\t" { item.removeFirst() }
            while let last = item.last, last == " " || last == "\t" { item.removeLast() }
            if item.hasPrefix("W/") { item.removeFirst(2) }
            return item == "*" || item == tag
        }
    }
}
