// SPDX-License-Identifier: MIT

/// One version of the content of a file, as that version wrote it.
///
/// A form that has been released never changes; what is new becomes the next version.
package protocol StoredForm: Sendable {
    /// The number of the version.
    static var version: Int { get }

    /// Reads the content of a file of this version.
    init(content: ErasedBuffer) throws(StoredFormError)

    /// The content of a file of this version: one JSON value.
    func content() -> ErasedBuffer
}

/// Content that is not of the form that its version says.
package struct StoredFormError: Error, Hashable, Sendable {
    /// What is wrong with it, without any value.
    package let reason: String

    /// Creates an error.
    package init(_ reason: String) {
        self.reason = reason
    }
}

/// How the content of a file is written now, and how each older version is brought up to it.
///
///     StoredFormat(FormOne.self).then(FormTwo.self) { one in FormTwo(one) }
///
/// reads files of both versions and writes the second.
package struct StoredFormat<Form: StoredForm>: Sendable {
    /// Reads the content of a version that is at most `Form.version`; `nil` for one that never was.
    package let read: @Sendable (_ version: Int, _ content: ErasedBuffer) throws(StoredFormError) -> Form?

    /// A format with one version.
    package init(_ first: Form.Type) {
        read = { (version, content) throws(StoredFormError) -> Form? in
            version == Form.version ? try Form(content: content) : nil
        }
    }

    private init(reading: @escaping @Sendable (Int, ErasedBuffer) throws(StoredFormError) -> Form?) {
        read = reading
    }

    /// The format with one more version, made of what the version before it held.
    package func then<Next: StoredForm>(
        _ next: Next.Type, _ migrate: @escaping @Sendable (Form) throws(StoredFormError) -> Next
    ) -> StoredFormat<Next> {
        precondition(Next.version > Form.version, "versions rise")
        let older = read
        return StoredFormat<Next> { (version, content) throws(StoredFormError) -> Next? in
            if version == Next.version { return try Next(content: content) }
            guard let form = try older(version, content) else { return nil }
            return try migrate(form)
        }
    }
}
