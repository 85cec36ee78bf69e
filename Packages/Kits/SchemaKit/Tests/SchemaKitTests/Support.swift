import JSON
import SchemaKit
import Testing

/// A schema with values that match it and values that do not.
struct Case: CustomTestStringConvertible {
    let schema: String
    let valid: [String]
    let invalid: [String]

    var testDescription: String { schema }

    init(_ schema: String, valid: [String] = [], invalid: [String] = []) {
        self.schema = schema
        self.valid = valid
        self.invalid = invalid
    }

    func run() throws {
        let schema = try JSONSchema(JSON(parsing: schema))
        for text in valid {
            let verdict = schema.check(try JSON(parsing: text))
            #expect(verdict.outcome == .valid && verdict.problems.isEmpty, "\(text): \(verdict.sentences)")
        }
        for text in invalid {
            let verdict = schema.check(try JSON(parsing: text))
            #expect(verdict.outcome == .invalid && !verdict.problems.isEmpty, "\(text) matches")
        }
    }
}

/// What is wrong with a value.
func sentences(_ schema: JSON, _ value: JSON) throws -> [String] {
    try JSONSchema(schema).check(value).sentences
}
