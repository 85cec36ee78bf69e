import Capabilities
import ChatHistory
import JSON
import Registry
import Screens

/// The screens of tool calls: those of a conversation, and one with its whole input and output, which can be edited and
/// run again.
struct ToolCallScreens {
    private let services: ChatServices

    init(_ services: ChatServices) { self.services = services }

    private static let interval = Duration.seconds(3)
    /// How many of the newest calls are listed.
    private static let mostCalls = 1_000
    /// The longest input in the list, and the longest text of an input or an output.
    private static let (shortInput, longestText) = (200, 256 << 10)

    func add(to registry: inout RegistryBuilder) {
        registry.add(
            Screen("chat.tools", "Tool calls", .detail, HistoryActions.newest) { screen, prefix in
                let id = try await HistoryActions(services).find(prefix).id
                repeat {
                    let news = try await services.history.news(of: id, limit: 0, mostCalls: Self.mostCalls)
                    try await screen.show(Self.list(news))
                } while try await screen.changed(orAfter: Self.interval)
            }
            .showingConversations())
        registry.add(
            Screen(
                "chat.call", "Tool call", .detail, HistoryActions.conversation, HistoryActions.call
            ) { screen, prefix, number in
                let id = try await services.history.find(prefix).id
                var isEnded = true
                repeat {
                    let call = try await HistoryActions(services).call(number, of: id)
                    isEnded = call.state.isEnded
                    try await screen.show(Self.block(call, number, id))
                } while try await screen.changed(orAfter: isEnded ? nil : Self.interval)
            }
            .showingConversations())
    }

    // MARK: The list

    private static func list(_ news: ConversationNews) -> Block {
        let id = JSON.string(news.conversation.id.rawValue)
        let arguments: [String: Link.Argument] = ["conversation": .value(id), "call": .row("call")]
        let rows = news.calls.map { call in
            var row = CallRow(call).json.object ?? [:]
            row["input"] = .string(
                String(String.UnicodeScalarView(call.call.input.text().unicodeScalars.prefix(shortInput))))
            // It may be long, and the screen of the call has it.
            row["output"] = nil
            return row
        }
        return Block(
            .table(
                Table(
                    CallRow.fields.map(\.property).filter { $0.name != "output" }, .all(rows), id: ["call"],
                    links: [.action("chat.rerun", "Run again", key: "r", arguments)],
                    detail: .screen("chat.call", "Tool call", arguments),
                    empty: "no tool was called in this conversation")), id: "calls", title: news.conversation.title)
    }

    // MARK: One call

    private static func block(_ call: CallEntry, _ number: Int, _ id: ConversationID) -> Block {
        var values = CallRow(call).json.object ?? [:]
        for name in ["input", "output"] { values[name] = nil }
        let properties = CallRow.fields.map(\.property).filter { !["input", "output"].contains($0.name) }
        var blocks = [
            Block(.values(Values(properties, values)), id: "facts"),
            Block(.code(Code(cut(call.call.input.text(.pretty)), language: "json")), id: "input", title: "Input"),
        ]
        if let result = call.result {
            blocks.append(Block(.code(Code(cut(result.content))), id: "result", title: "Output"))
        }
        // The tools of a call that a server ran are not available here.
        guard !call.call.isDone else { return Block(.stack(Stack(blocks)), id: "call", title: call.call.name) }
        if call.call.input.text().utf8.count > longestText {
            let text =
                "The input is too long to be edited here; 'martlet chat rerun \(id.tag) \(number)' runs it again."
            blocks.append(Block(.text(RichText(text, .mutedForeground)), id: "again", title: "Run again"))
        } else {
            blocks.append(
                Block(
                    .form(
                        Form(
                            "chat.rerun", parameters: ["input"],
                            values: [
                                "conversation": .string(id.rawValue), "call": .int(number), "input": call.call.input,
                            ], submit: "Run again")), id: "again", title: "Run again"))
        }
        return Block(.stack(Stack(blocks)), id: "call", title: call.call.name)
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        let start = text[..<text.utf8.index(text.startIndex, offsetBy: longestText)]
        return "\(start)…\n(\(ByteCount(text.utf8.count - longestText).words) more; 'martlet chat inspect' shows all)"
    }
}
