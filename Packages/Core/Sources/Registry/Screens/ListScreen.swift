import Capabilities
public import JSON
public import Screens
import Synchronization

extension RegistryBuilder {
    /// Adds a screen with the rows that an action of the same feature returns, and with what can be done with them. It
    /// takes the parameters of the action, and performs it again after each change.
    ///
    /// ```swift
    /// registry.addScreen(
    ///     "weather.cities", "Cities", .tab("Weather"), listing: "weather.list", id: "name",
    ///     links: [.action("weather.forget", "Forget", key: "d", ["city": .row("name")])],
    ///     detail: .screen("weather.today", "Weather", ["city": .row("name")]))
    /// ```
    ///
    /// - Parameters:
    ///   - action: the id of a reading action that was added before. It returns a list of records, or a record with a list. Its
    ///     notices are shown below the rows, or say why there are none. Of more rows than a screen can show, the first
    ///     are shown.
    ///   - given: arguments of the action that the screen always gives, and so has no parameters for.
    ///   - rowID: the members that together identify a row.
    ///   - links: what can be done with a row. Made when the screen is shown, because every command declares all screens.
    ///   - detail: the screen that is shown beside the selected row.
    ///   - others: what can be done besides, such as to add a row.
    ///   - interval: when to look again although nothing was done here; nil for never.
    public mutating func addScreen(
        _ id: String, _ title: String, _ placement: Screen.Placement, listing action: String,
        giving given: JSONObject = [:], id rowID: String...,
        links: @autoclosure @escaping @Sendable () -> [Link] = [],
        detail: @autoclosure @escaping @Sendable () -> Link? = nil,
        offering others: @autoclosure @escaping @Sendable () -> [Link] = [], every interval: Duration? = nil
    ) {
        guard let action = actions.last(where: { $0.action.id == action })?.action else {
            problems.append(
                CompositionProblem(
                    .undeclared, current.id, "declares the screen \(id) of the action \(action); add the action first"))
            return
        }
        if action.effect != .reads {
            problems.append(
                CompositionProblem(
                    .contradiction, current.id,
                    "declares the screen \(id) of the action \(action.id), which does not only read; a screen performs its "
                        + "action again and again"))
            return
        }
        let parameters = action.parameters.filter { given[$0.name] == nil }
        var screen = Screen(id, title, placement, parameters: parameters) { chosen, screen in
            var arguments = given
            for (name, value) in chosen { arguments[name] = value }
            repeat {
                let output = NoticeCollector()
                let result = try await screen.context.perform(action, arguments, output: output)
                let (columns, rows) = Self.rows(of: result.json, action.result)
                let (table, omitted) = Table(columns, .all(rows), id: rowID, links: links(), detail: detail()).fitting()
                let host = screen.context.host
                // Elsewhere a surface redacts notices.
                var notices = output.notices.map { host.redactor.redact($0) }
                if omitted > 0 {
                    notices.append(
                        "only the first \(rows.count - omitted) of \(rows.count) rows are shown; "
                            + "'\(host.name) \(action.id.split(separator: ".").joined(separator: " "))' shows all")
                }
                try await screen.show(Self.block(table, links: others(), notices: notices))
            } while try await screen.changed(orAfter: interval)
        }
        if action.sends { screen = screen.sending() }
        if action.offer == .byName { screen = screen.byName() }
        if action.worksAlways { screen = screen.always() }
        if action.showsConversations { screen = screen.showingConversations() }
        add(screen)
    }

    /// The rows, with what the action had to say about them.
    private static func block(_ table: Table, links: [Link], notices: [String]) -> Block {
        let text = notices.joined(separator: "\n")
        let rows = Block(.table(table), id: "rows", links: links)
        guard !text.isEmpty else { return rows }
        if case .all(let all) = table.rows, all.isEmpty {
            return Block(.table(table.saying(text)), id: "rows", links: links)
        }
        return .stack([rows, Block(.text(RichText(text, .mutedForeground)), id: "notices")])
    }

    /// The rows in a result: itself, or its first list of records.
    private static func rows(of result: JSON, _ schema: Schema) -> (columns: [Schema.Property], rows: [JSONObject]) {
        if case .record(let columns) = schema.element?.unwrapped {
            return (columns, (result.array ?? []).compactMap(\.object))
        }
        guard case .record(let members) = schema.unwrapped else { return ([], []) }
        for member in members {
            if case .record(let columns) = member.schema.element?.unwrapped {
                return (columns, (result[member.name]?.array ?? []).compactMap(\.object))
            }
        }
        return ([], [])
    }
}

/// Keeps the notices of an action, and nothing else.
private final class NoticeCollector: ActionOutput {
    private let texts = Mutex<[String]>([])

    var notices: [String] { texts.withLock { $0 } }

    func event(_ event: ActionEvent) async throws {}
    func progress(_ progress: Progress) {}
    func notice(_ text: String) { texts.withLock { $0.append(text) } }
}
