/// The criteria of a `Match` line, as far as they can be answered without running a program or asking the network.
struct MatchCondition {
    /// Whether the lines after it apply.
    enum Outcome: Hashable {
        case matched, unmatched
        /// The criterion decides, and only ssh can answer it.
        case unknown(String)
    }

    /// Criteria without an argument that need another pass over the files.
    private static let passes: Set<String> = ["final", "canonical"]
    /// Criteria of this and later versions with an argument that only ssh can answer.
    private static let unanswered: Set<String> = [
        "exec", "localnetwork", "tagged", "version", "sessiontype", "command",
    ]

    private var words: Delimited

    init(_ rest: [UInt8]) {
        words = Delimited(rest[...])
    }

    /// Whether nothing follows what was read.
    var isRead: Bool { words.rest?.isEmpty ?? true }

    /// Reads the criteria. Throws for a line that ssh refuses.
    mutating func outcome(
        for host: String, _ given: GivenSettings, _ account: SSHAccount
    ) throws(LineFault) -> Outcome {
        let name = try Self.hostName(host, given)
        var (outcome, count) = (Outcome.matched, 0)
        while let word = next(), !word.isEmpty {
            if word.hasPrefix("#") {
                words = Delimited([])
                break
            }
            let isNegated = word.hasPrefix("!")
            let criterion = ASCII.lowercased(isNegated ? String(word.dropFirst()) : word)
            if criterion == "all" {
                let rest = next()
                guard count <= 1, rest?.isEmpty ?? true || rest?.hasPrefix("#") ?? true else {
                    throw LineFault("'\(word)' cannot be combined with other Match attributes")
                }
                if rest?.hasPrefix("#") ?? false { words = Delimited([]) }
                return outcome == .matched && isNegated ? .unmatched : outcome
            }
            count += 1
            if Self.passes.contains(criterion) {
                // A second pass may change what other lines mean, whether this one matches or not.
                if criterion == "final" { return readAll(as: .unknown(criterion)) }
                // Names are canonical only with CanonicalizeHostname, which leaves everything to ssh.
                if !isNegated { outcome = .unmatched }
                continue
            }
            guard let argument = next(), !argument.isEmpty, !argument.hasPrefix("#") else {
                throw LineFault("missing Match criteria for \(criterion)")
            }
            let holds: Bool
            switch criterion {
            case "host": holds = HostPattern.list(argument, matches: ASCII.lowercased(name), lowercasing: true)
            case "originalhost": holds = HostPattern.list(argument, matches: ASCII.lowercased(host), lowercasing: true)
            case "user": holds = HostPattern.list(argument, matches: given.user ?? account.name)
            case "localuser": holds = HostPattern.list(argument, matches: account.name)
            case _ where Self.unanswered.contains(criterion):
                // If a criterion before it does not match, neither does the line.
                if outcome == .matched { outcome = .unknown(criterion) }
                continue
            default: throw LineFault("unsupported Match attribute \(criterion)")
            }
            if holds == isNegated { outcome = .unmatched }
        }
        guard count > 0 else { throw LineFault("one or more attributes required for Match") }
        return outcome
    }

    private mutating func next() -> String? {
        words.next().map { String(decoding: $0, as: UTF8.self) }
    }

    private mutating func readAll(as outcome: Outcome) -> Outcome {
        words = Delimited([])
        return outcome
    }

    /// The name to connect to, as far as the lines before say it.
    private static func hostName(_ host: String, _ given: GivenSettings) throws(LineFault) -> String {
        guard let name = given.hostName else { return host }
        do throws(ConfigTokens.Problem) { return try ConfigTokens.expanding(hostName: name, of: host) } catch {
            throw LineFault("HostName cannot be expanded: \(error.reason)")
        }
    }
}
