import Capabilities
import JSON

/// The tool through which an answer follows a schema. The reader knows it by its name and makes text of its input, so
/// that nobody else ever sees it.
enum AnswerTool {
    static let name = "structured_answer"

    static func json(_ schema: AnswerSchema) -> JSONObject {
        let summary = "Give your whole answer by calling this tool: \(schema.name)"
        return ["name": .string(name), "description": .string(summary), "input_schema": schema.schema]
    }
}
