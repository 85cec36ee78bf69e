import JSON
struct JSONDocument: Sendable {
    let value: JSON
    init(parsing text: [UInt8], name: String) throws(JSONError) { value = text.isEmpty ? [:] : try JSON(parsing: text, reading: .json5) }
    func position(of: [String]) -> (line: Int, column: Int)? { nil }
    func keyPosition(of: [String]) -> (line: Int, column: Int)? { nil }
}
