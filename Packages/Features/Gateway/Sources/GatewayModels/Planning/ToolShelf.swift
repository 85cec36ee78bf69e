import Capabilities

/// The tools that a request offers.
struct ToolShelf {
    private let names: [String: String]
    /// As they are offered, in order.
    let all: [String]

    init(_ tools: [ToolDescription]) {
        all = tools.map(\.name)
        names = Dictionary(tools.map { (Self.plain($0.name), $0.name) }) { first, _ in first }
    }

    /// The name under which a tool is offered: `fs.read` may be called `fs_read`.
    func name(of tool: String) -> String? { names[Self.plain(tool)] }

    /// A name in the form in which names are compared.
    static func plain(_ name: String) -> String {
        String(name.lowercased().map { $0 == "." || $0 == "-" ? "_" : $0 })
    }
}
