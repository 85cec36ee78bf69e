import Capabilities
public import JSON
public import Registry

extension [EventDeclaration] {
    /// Why an event, as a line, is of none of these kinds; nothing if it is of one of them. The check is strict:
    /// undeclared members are problems too.
    public func problems(in line: JSON) -> [String] {
        let type = line["type"]?.string ?? ""
        let kinds = filter { $0.type == type }
        guard !kinds.isEmpty, var members = line.object else { return ["there is no event \(type)"] }
        members["type"] = nil
        let found = kinds.map { $0.problems(in: members) }
        return found.contains { $0.isEmpty } ? [] : found.flatMap(\.self)
    }
}

extension EventDeclaration {
    fileprivate func problems(in values: JSONObject) -> [String] {
        let wrong = members.filter { member in
            member.keywords["const"].map { values[member.name] ?? $0 != $0 } ?? false
        }
        return Schema.record(members).problems(in: .object(values)).map(\.description)
            + wrong.map { "\($0.name): must be \($0.keywords["const"]?.text() ?? "")" }
    }
}
