import Capabilities
import JSON

/// The input of a call, found to be as the tool's schema says.
struct ToolInput: Sendable {
    private let members: JSONObject

    private init(members: JSONObject) {
        self.members = members
    }

    init(_ json: JSON, _ properties: [Schema.Property]) throws(WorkspaceError) {
        // Some models say nothing where nothing is needed.
        let json = json.isNull ? .object([:]) : json
        let problems = Schema.record(properties).problems(in: json)
        guard problems.isEmpty, let members = json.object else {
            let words = problems.prefix(5).map { PlainText.escape($0.description) }.joined(separator: "; ")
            throw WorkspaceError(.input, "the input is not what the tool needs: \(words); mend it and try again")
        }
        self.members = members
    }

    func text(_ name: String) -> String { members[name]?.string ?? "" }
    func number(_ name: String) -> Int? { members[name]?.int }
    func flag(_ name: String) -> Bool { members[name]?.bool ?? false }

    /// The members of a list of records.
    func records(_ name: String) -> [ToolInput] {
        (members[name]?.array ?? []).map { ToolInput(members: $0.object ?? [:]) }
    }

    /// The path that the tool is about; the working folder itself where none is given.
    var path: EntryPath {
        get throws(WorkspaceError) {
            let text = text("path")
            return text.isEmpty || text == "." ? .here : try EntryPath(text)
        }
    }
}
