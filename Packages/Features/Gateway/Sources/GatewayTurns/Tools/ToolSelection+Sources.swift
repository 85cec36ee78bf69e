import Capabilities
import GatewayStore

extension ToolSelection {
    /// The sources that were selected, those with priority first: the first to bring a name keeps it.
    func sources(among all: [any ToolSource]) -> [any ToolSource] {
        let selected = all.filter { source in servers?.contains(source.name) ?? true }
        var sorted: [any ToolSource] = []
        for source in priority.compactMap({ name in selected.first { $0.name == name } }) + selected
        where !sorted.contains(where: { $0 === source }) {
            sorted.append(source)
        }
        return sorted
    }

    /// What was selected and does not exist. Nobody shall believe that a choice counted which did not.
    func problems(among all: [any ToolSource]) -> [String] {
        let names = all.map(\.name)
        return (servers ?? []).filter { !names.contains($0) }.map { name in
            "there are no tools of \(PlainText.escape(name).quoted) here\(Suggestion.text(for: name, among: names))"
        }
    }
}
