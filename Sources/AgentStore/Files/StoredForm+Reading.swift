// SPDX-License-Identifier: MIT

internal import AgentCore

/// Reads the fields of a content that is a JSON object.
func reading<Form>(
    _ content: ErasedBuffer, _ body: (JSONFields) throws(AgentError) -> Form
) throws(StoredFormError) -> Form {
    var bytes = content.array()
    defer { bytes.erase() }
    do throws(AgentError) {
        return try body(JSONFields(parsing: bytes))
    } catch {
        throw StoredFormError(error.description)
    }
}
