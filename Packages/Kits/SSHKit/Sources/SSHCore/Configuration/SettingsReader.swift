import Capabilities

/// Applies the lines of the files to one host. Of values that are given more than once the first counts.
struct SettingsReader {
    let address: SSHAddress
    let account: SSHAccount
    var given = GivenSettings()
    /// The lines that ssh refuses, in their order.
    private var problems: [LineProblem] = []
    /// The keywords of which the first value decided already.
    private var decided: Set<String> = []
    /// Whether lines apply, by the last `Host` or `Match`.
    private var isActive = true
    /// Whether no line of the file applies, because it is included where none does.
    private var neverMatches = false

    private static let mostProblems = 20

    init(_ address: SSHAddress, _ account: SSHAccount) {
        (self.address, self.account) = (address, account)
        (given.user, given.port) = (address.user, address.port)
    }

    /// Applies all lines of a file.
    mutating func read(_ file: ConfigFile) {
        // Each file of its own begins with lines for all hosts.
        (isActive, neverMatches) = (true, false)
        apply(file)
    }

    /// The settings, with defaults. Throws the lines that ssh refuses.
    func settings() throws(SSHError) -> SSHSettings {
        if let first = problems.first {
            let others = problems.count - 1
            throw SSHError(
                .configuration, first.description + (others > 0 ? "; and \(others) more, as 'ssh -G' lists them" : ""))
        }
        return try given.settings(for: address, account)
    }

    private mutating func apply(_ file: ConfigFile) {
        for line in file.lines {
            do throws(LineFault) { try apply(line, of: file) } catch {
                guard problems.count < Self.mostProblems else { return }
                problems.append(
                    LineProblem(place: SSHFilePlace(file: file.path, line: line.number), words: error.words))
            }
        }
    }

    private mutating func apply(_ line: ConfigLine, of file: ConfigFile) throws(LineFault) {
        guard !line.rest.isEmpty else { throw LineFault("no argument after keyword \"\(line.keyword)\"") }
        let place = SSHFilePlace(file: file.path, line: line.number)
        guard let keyword = Keyword.named(line.keyword) else {
            let isIgnored = given.ignoredUnknown.map {
                HostPattern.list($0, matches: line.keyword, lowercasing: true)
            }
            // Another ssh may know it, and this one refuses it, which it tells better.
            if isIgnored != true { given.reasons.append(SSHReason(line.keyword, place, "is unknown here")) }
            guard line.arguments != nil else { throw LineFault("invalid quotes") }
            return
        }
        guard let words = line.arguments else { throw LineFault("invalid quotes") }
        if !line.isText, isActive || ["Host", "Match", "Include"].contains(keyword.name) {
            given.reasons.append(SSHReason(keyword.name, place, "is not UTF-8"))
        }
        var arguments = LineArguments(words[...])
        switch keyword.use {
        case .own: try applyOwn(keyword, line, &arguments, of: file, place)
        case .obsolete: arguments.removeAll()
        default:
            let value = try keyword.value(line, &arguments)
            if isActive { decide(keyword, value, place) }
        }
        guard arguments.isEmpty else {
            throw LineFault("keyword \(line.keyword) extra arguments at end of line")
        }
    }

    /// Whether a keyword that we do not use leaves the connection to ssh.
    private mutating func decide(_ keyword: Keyword, _ value: String, _ place: SSHFilePlace) {
        let value = ASCII.lowercased(value)
        // Each of these adds to the ones before.
        let isList = keyword.name == "CertificateFile"
        guard isList || decided.insert(keyword.name).inserted else { return }
        switch keyword.use {
        case .system(let harmless) where !harmless.contains(value):
            given.reasons.append(SSHReason(keyword.name, place, "needs the system's ssh"))
        case .kerberos where account.hasKerberosTicket && value != "no" && value != "false":
            given.reasons.append(SSHReason(keyword.name, place, "uses the ticket of Kerberos, which only ssh can"))
        case .refusal:
            given.refusal = SSHReason(keyword.name, place, "refuses it: \(PlainText.escape(value, limit: 200))")
        default: break
        }
    }

    private mutating func applyOwn(
        _ keyword: Keyword, _ line: ConfigLine, _ arguments: inout LineArguments, of file: ConfigFile,
        _ place: SSHFilePlace
    ) throws(LineFault) {
        switch keyword.name {
        case "Host": try applyHost(&arguments)
        case "Match": try applyMatch(line, &arguments, place)
        case "Include": try applyInclude(line, &arguments, of: file)
        default:
            let source = GivenSettings.Source(
                place: place, isActive: isActive, isUsers: file.isUsers, environment: account.environment)
            try given.apply(keyword.name, line, &arguments, from: source)
        }
    }

    private mutating func applyHost(_ arguments: inout LineArguments) throws(LineFault) {
        isActive = false
        while let pattern = arguments.next() {
            guard !pattern.isEmpty else { throw LineFault("keyword host empty argument") }
            if neverMatches { return arguments.removeAll() }
            let isNegated = pattern.hasPrefix("!")
            guard HostPattern.matches(address.host, isNegated ? String(pattern.dropFirst()) : pattern) else { continue }
            if isNegated {
                isActive = false
                return arguments.removeAll()
            }
            isActive = true
        }
    }

    private mutating func applyMatch(
        _ line: ConfigLine, _ arguments: inout LineArguments, _ place: SSHFilePlace
    ) throws(LineFault) {
        var condition = MatchCondition(line.rest)
        let outcome = try condition.outcome(for: address.host, given, account)
        if case .unknown(let criterion) = outcome, !neverMatches || criterion == "final" {
            given.reasons.append(SSHReason("Match", place, "asks for '\(criterion)', which only ssh can answer"))
        }
        isActive = outcome == .matched && !neverMatches
        if condition.isRead { arguments.removeAll() }
    }

    private mutating func applyInclude(
        _ line: ConfigLine, _ arguments: inout LineArguments, of file: ConfigFile
    ) throws(LineFault) {
        while let pattern = arguments.next() {
            guard !pattern.isEmpty else { throw LineFault("keyword include empty argument") }
            guard file.isUsers || !pattern.hasPrefix("~") else { throw LineFault("bad include path \(pattern).") }
            // Later versions of ssh expand these.
            if pattern.contains("${") || pattern.contains("%") {
                given.reasons.append(
                    SSHReason(
                        "Include", SSHFilePlace(file: file.path, line: line.number), "has tokens, which ssh may expand")
                )
            }
        }
        let (wasActive, neverMatched) = (isActive, neverMatches)
        neverMatches = neverMatched || !wasActive
        for included in line.included {
            apply(included)
            // "don't let Match in includes clobber the containing file's Match state" (readconf.c).
            isActive = wasActive
        }
        neverMatches = neverMatched
    }
}

/// What is wrong with a line, in ssh's words.
struct LineFault: Error {
    let words: String

    init(_ words: String) {
        self.words = PlainText.escape(words, limit: 300)
    }
}

/// A line that ssh refuses.
private struct LineProblem {
    let place: SSHFilePlace
    let words: String

    var description: String { "\(place.file) line \(place.line): \(words)" }
}

/// The arguments of a line that were not read yet.
struct LineArguments {
    private var rest: ArraySlice<String>

    init(_ words: ArraySlice<String>) {
        rest = words
    }

    var isEmpty: Bool { rest.isEmpty }
    var first: String? { rest.first }

    mutating func next() -> String? { rest.popFirst() }
    mutating func removeAll() { rest = [] }

    /// The next argument. Throws if there is none, or an empty one.
    mutating func required(_ words: String = "Missing argument.") throws(LineFault) -> String {
        guard let word = next(), !word.isEmpty else { throw LineFault(words) }
        return word
    }
}

extension Keyword {
    /// Reads the value of a keyword that we do not use, and checks as much of it as we know.
    func value(_ line: ConfigLine, _ arguments: inout LineArguments) throws(LineFault) -> String {
        switch shape {
        case .flag:
            let word = try arguments.required("missing argument.")
            guard ["yes", "no", "true", "false"].contains(ASCII.lowercased(word)) else {
                throw LineFault("unsupported option \"\(word)\".")
            }
            return word
        case .number:
            let word = arguments.next()
            do throws(ConfigNumbers.Problem) { _ = try ConfigNumbers.integer(word, in: 0...Int(Int32.max)) } catch {
                throw LineFault("integer value \(error.rawValue).")
            }
            return word ?? ""
        case .time:
            let word = try arguments.required("missing time value.")
            guard word == "none" || ConfigNumbers.seconds(word) != nil else { throw LineFault("invalid time value.") }
            return word
        case .word: return try arguments.required()
        case .pair:
            let word = try arguments.required()
            _ = arguments.next()
            return word
        case .words:
            let word = arguments.next() ?? ""
            arguments.removeAll()
            return word
        case .line:
            arguments.removeAll()
            return line.wholeValue
        }
    }
}

extension ConfigLine {
    /// All after the keyword and one equals sign, with quotes and comments as they are.
    var wholeValue: String {
        String(decoding: rest.drop { Delimited.isBlank($0) || $0 == UInt8(ascii: "=") }, as: UTF8.self)
    }
}
