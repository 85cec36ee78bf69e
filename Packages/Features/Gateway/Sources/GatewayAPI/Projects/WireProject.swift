import Capabilities
import GatewayStore
import JSON
import TurnLoop

/// A project as clients see it.
struct WireProject: Record {
    let row: ProjectRow

    static let fields: [Field<WireProject>] = [
        Field("id", "Its id") { $0.row.project.id },
        Field("object", "Always project") { _ in "project" },
        Field("name", "What people call it", .name) { $0.row.project.name },
        Field("description", "What it is about") { $0.row.project.description },
        Field("path", "The folder in which its tools work") { $0.row.project.path },
        Field("created_at", "When it was made") { $0.row.project.created },
        Field("updated_at", "When something was last done in it") { $0.row.project.updated },
        Field("is_active", "Always: a project that is listed can be used") { _ in true },
        Field("session_count", "How many sessions it has") { $0.row.sessions },
        Field("total_tokens", "Tokens used in it, as far as they are known") { $0.row.usage.tokens },
        Field("total_cost", "US dollars spent in it, as far as it is known") { $0.row.usage.usage.cost },
        Field("rules", "What its tools may do without being asked for", .detail) { $0.row.project.rules },
        Field("budget", "What it may use up", .detail) { WireBudget($0.row.project.budget) },
    ]
}

/// What a client says of a project that it makes or changes.
struct ProjectBody: InputValue {
    let name: String?
    let description: String?
    let path: String?
    let rules: [ApprovalRule]?
    let budget: ProjectBudget?

    static let schema = Schema.record([name(.optional(.string))] + others)

    fileprivate static func name(_ schema: Schema) -> Schema.Property {
        Schema.Property("name", "What people call it", schema, keywords: ["pattern": #"\S"#])
    }

    fileprivate static let others = [
        Schema.Property("description", "What it is about", .optional(.string)),
        Schema.Property(
            "path", "Its folder: absolute and allowed, or beneath the folder for projects", .optional(.string)),
        // A rule or a limit that is not understood must not pass for one that holds.
        Schema.Property(
            "rules", "What its tools may do without being asked for", .optional(.array(ApprovalRule.schema)),
            keywords: ["items": .object(ApprovalRule.schema.jsonSchema(accepting: .nulls))]),
        Schema.Property(
            "budget", "What it may use up", .optional(WireBudget.schema), keywords: ["additionalProperties": false]),
    ]

    init(json: JSON) throws(ValueError) {
        name = json["name"]?.string
        description = json["description"]?.string
        path = json["path"]?.string
        do { rules = try json["rules"]?.unlessNull.map(Self.rules) } catch {
            throw error.under("rules")
        }
        do { budget = try json["budget"]?.unlessNull.map(Self.budget) } catch {
            throw error.under("budget")
        }
    }

    private static func rules(_ json: JSON) throws(ValueError) -> [ApprovalRule] { try [ApprovalRule](json: json) }
    private static func budget(_ json: JSON) throws(ValueError) -> ProjectBudget { try WireBudget(json: json).budget }
}

/// A project that is to be made, which needs a name.
struct NewProjectBody: InputValue {
    let body: ProjectBody
    let name: String

    static let schema = Schema.record([ProjectBody.name(.string)] + ProjectBody.others)

    init(json: JSON) throws(ValueError) {
        body = try ProjectBody(json: json)
        name = body.name ?? ""
        guard name.contains(where: { !$0.isWhitespace }) else {
            throw ValueError("needs a name that can be read", at: ["name"])
        }
    }
}
