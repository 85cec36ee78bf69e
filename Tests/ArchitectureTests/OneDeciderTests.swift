import Testing
import WorkspaceSupport

/// What only a decider writes. Who may do what is decided in Capabilities, by `Grant.decide`; whoever asks for something
/// takes that answer.
private enum Deciding {
    static let home = "Packages/Core/Sources/Capabilities/Rights/"

    /// Where a refusal is no decision about a right.
    static let excused: [String: String] = [
        "Packages/Features/Gateway/Sources/Gateway/Token/TokenHolders.swift":
            "outside of an action nobody is there to ask for",
        "Packages/Features/Runner/Sources/Runner/Given/BundleHolders.swift":
            "outside of an action nobody is there to ask for",
        "Packages/Frontends/Host/Sources/HostKit/Features/AccessAction.swift":
            "it tells what a grant decides, and reads any file for it, which only the person may",
        // They carry out what was decided about a tool call, and write down who has decided.
        "Packages/Kits/ModelKit/Sources/TurnLoop/Calls/CallRun.swift":
            "it carries out what a grant has decided",
        "Packages/Features/Gateway/Sources/GatewayModels/Claude/ClaudeTurn.swift":
            "it carries out what a grant has decided",
    ]

    /// What every line with a sign has.
    private static let words = ["(rule:", "GrantDecision", "ApprovalVerdict", "(isAllowed:", ".isWithinMode"]

    /// The signs of a decision in a source, each with its line.
    static func signs(in text: String) -> [String] {
        lines(of: text, with: words).compactMap { number, line in
            let isSign =
                line.contains(/\.(allow|ask|deny)\(rule:/)
                || line.contains(/-> (GrantDecision|ApprovalVerdict)\b/)
                || line.contains(/\b(AccessFailure|ApprovalDecision)\((rule|isAllowed):/)
                || line.contains(/\.isWithinMode\b/)
            return isSign ? "line \(number): \(line.drop(while: \.isWhitespace))" : nil
        }
    }
}

@Test("Only a grant decides who may do what")
func onlyGrantsDecide() throws {
    let workspace = Workspace.current
    let sources = try workspace.files(in: "Packages", ending: ".swift").filter { $0.contains("/Sources/") }
    var deciding: Set<String> = []
    for file in sources where !file.contains(Deciding.home) {
        let signs = Deciding.signs(in: try workspace.text(file))
        guard !signs.isEmpty else { continue }
        deciding.insert(file)
        #expect(Deciding.excused[file] != nil, "\(file) decides by itself: \(signs.joined(separator: "; "))")
    }
    #expect(Set(Deciding.excused.keys) == deciding, "who is excused has something to be excused for")
    // The one that there is shows that the signs are known.
    #expect(Deciding.signs(in: try workspace.text("\(Deciding.home)Grant.swift")).count > 10)
}

@Test(
    "The signs of a decision are recognised",
    arguments: [
        (#"return .deny(rule: "no", mend: "ask")"#, true), (#"case .deny(let rule, let mend): throw failure"#, false),
        ("func verdict(for request: ApprovalRequest) -> ApprovalVerdict {", true),
        (#"throw AccessFailure(rule: "no", mend: "ask")"#, true), ("catch let error as AccessFailure {", false),
        ("ApprovalDecision(isAllowed: true, by: .person)", true), ("if use.isWithinMode { run() }", true),
    ])
func knowsSigns(line: String, isSign: Bool) {
    #expect(Deciding.signs(in: line).isEmpty != isSign)
}
