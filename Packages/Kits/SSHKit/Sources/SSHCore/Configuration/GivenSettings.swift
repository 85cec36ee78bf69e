import Capabilities

/// What the lines that apply to a host say, before defaults. Nil is what no line says.
struct GivenSettings {
    var hostName, user, hostKeyAlias, hostKeyAlgorithms, preferredAuthentications, identityAgent: String?
    var proxyCommand, controlPath, ignoredUnknown, logLevel, agentSocket: String?
    var port, connectTimeout, serverAliveInterval, serverAliveCountMax, passwordPrompts: Int?
    var rekeyBytes, rekeySeconds: Int?
    var identitiesOnly, hashesKnownHosts, passwordAuthentication, keyboardInteractiveAuthentication: Bool?
    var compression, forwardsAgent, isBatch, checksHostAddress: Bool?
    var addressFamily: AddressFamily?
    var publicKeyAuthentication: SSHSettings.PublicKeyAuthentication?
    var strictHostKeyChecking: SSHSettings.StrictHostKeyChecking?
    var controlMaster: SSHSettings.ControlMaster?
    var userKnownHostsFiles, globalKnownHostsFiles: [String]?
    var jump: Jump?
    private(set) var identities: [Identity] = []

    /// Why the system's ssh has to connect.
    var reasons: [SSHReason] = []
    /// The reason to refuse the connection.
    var refusal: SSHReason?

    /// `ProxyJump none`, which stays so, or hosts.
    enum Jump {
        case none
        case through(JumpHosts)
    }

    /// The same file may be named in the user's files and in the system's.
    struct Identity: Hashable {
        let path: String
        let isUsers: Bool
    }

    /// Where a line is, and whether it applies.
    struct Source {
        let place: SSHFilePlace
        let isActive, isUsers: Bool
        let environment: [String: String]
    }

    /// "SSH_MAX_IDENTITY_FILES 100", "SSH_MAX_HOSTS_FILES 32" (readconf.h).
    private static let mostIdentities = 100
    private static let mostKnownHostsFiles = 32

    /// Reads the value of a keyword. It counts if the line applies and none was given before; it is checked in any case.
    mutating func apply(
        _ keyword: String, _ line: ConfigLine, _ arguments: inout LineArguments, from source: Source
    ) throws(LineFault) {
        switch keyword {
        case "HostName": try take(\.hostName, arguments.required(), source)
        case "User":
            let isFirst = user == nil
            try take(\.user, arguments.required(), source)
            // Later versions of ssh expand tokens here.
            if isFirst, let user, source.isActive, user.contains("%") || user.contains("${") {
                reasons.append(SSHReason(keyword, source.place, "has tokens, which ssh may expand"))
            }
        case "Port":
            let text = try arguments.required()
            guard let port = ConfigNumbers.port(text) else { throw LineFault("Bad port '\(text)'.") }
            take(\.port, port, source)
        case "IdentityFile": try addIdentity(arguments.required(), source)
        case "IdentityAgent": try take(\.identityAgent, Self.agent(arguments.required(), source), source)
        case "HostKeyAlias": try take(\.hostKeyAlias, arguments.required(), source)
        case "HostKeyAlgorithms":
            let names = try arguments.required()
            guard HostKeyAlgorithms.isValid(names) else { throw LineFault("Bad key types '\(names)'.") }
            take(\.hostKeyAlgorithms, names, source)
        case "PreferredAuthentications": try take(\.preferredAuthentications, arguments.required(), source)
        case "ControlPath": try take(\.controlPath, arguments.required(), source)
        case "IgnoreUnknown": try take(\.ignoredUnknown, arguments.required(), source)
        case "LogLevel": try take(\.logLevel, Self.logLevel(arguments.next()), source)
        case "UserKnownHostsFile": try takeFiles(\.userKnownHostsFiles, keyword, &arguments, source)
        case "GlobalKnownHostsFile": try takeFiles(\.globalKnownHostsFiles, keyword, &arguments, source)
        case "RekeyLimit": try takeRekeyLimit(&arguments, source)
        case "ForwardAgent": try takeForwardAgent(arguments.required("missing argument."), source)
        case "ProxyCommand": takeProxyCommand(line, &arguments, source)
        case "ProxyJump": try takeProxyJump(line, &arguments, source)
        default: try applyChoice(keyword, &arguments, source)
        }
    }

    private mutating func applyChoice(
        _ keyword: String, _ arguments: inout LineArguments, _ source: Source
    ) throws(LineFault) {
        switch keyword {
        case "IdentitiesOnly": try takeFlag(\.identitiesOnly, &arguments, source)
        case "HashKnownHosts": try takeFlag(\.hashesKnownHosts, &arguments, source)
        case "PasswordAuthentication": try takeFlag(\.passwordAuthentication, &arguments, source)
        case "KbdInteractiveAuthentication": try takeFlag(\.keyboardInteractiveAuthentication, &arguments, source)
        case "BatchMode": try takeFlag(\.isBatch, &arguments, source)
        case "CheckHostIP":
            let isFirst = checksHostAddress == nil
            try takeFlag(\.checksHostAddress, &arguments, source)
            if isFirst, source.isActive, checksHostAddress == true {
                reasons.append(SSHReason(keyword, source.place, "compares addresses as well, which only ssh does"))
            }
        case "Compression": try take(\.compression, choice(["yes": true, "no": false], &arguments), source)
        case "PubkeyAuthentication":
            try take(
                \.publicKeyAuthentication,
                choice(
                    [
                        "yes": .yes, "true": .yes, "no": .no, "false": .no, "unbound": .unbound,
                        "host-bound": .hostBound,
                    ], &arguments), source)
        case "StrictHostKeyChecking":
            try take(
                \.strictHostKeyChecking,
                choice(
                    [
                        "yes": .yes, "true": .yes, "no": .off, "false": .off, "off": .off, "ask": .ask,
                        "accept-new": .acceptNew,
                    ], &arguments), source)
        case "ControlMaster":
            try take(
                \.controlMaster,
                choice(
                    [
                        "yes": .yes, "true": .yes, "no": .no, "false": .no, "auto": .auto, "ask": .ask,
                        "autoask": .autoAsk,
                    ],
                    &arguments), source)
        case "AddressFamily":
            try take(\.addressFamily, choice(["any": .any, "inet": .inet, "inet6": .inet6], &arguments), source)
        case "NumberOfPasswordPrompts": try take(\.passwordPrompts, integer(arguments.next()), source)
        case "ServerAliveCountMax": try take(\.serverAliveCountMax, integer(arguments.next()), source)
        case "ConnectTimeout": try takeTime(\.connectTimeout, &arguments, source)
        case "ServerAliveInterval": try takeTime(\.serverAliveInterval, &arguments, source)
        default: preconditionFailure("the keyword \(keyword) is listed as used, and is not")
        }
    }

    // MARK: Kinds of values

    private mutating func take<Value>(
        _ path: WritableKeyPath<GivenSettings, Value?>, _ value: Value, _ source: Source
    ) {
        if source.isActive, self[keyPath: path] == nil { self[keyPath: path] = value }
    }

    private mutating func takeFlag(
        _ path: WritableKeyPath<GivenSettings, Bool?>, _ arguments: inout LineArguments, _ source: Source
    ) throws(LineFault) {
        try take(path, choice(["yes": true, "true": true, "no": false, "false": false], &arguments), source)
    }

    private func choice<Value>(
        _ values: [String: Value], _ arguments: inout LineArguments
    ) throws(LineFault) -> Value {
        let word = try arguments.required("missing argument.")
        guard let value = values[ASCII.lowercased(word)] else { throw LineFault("unsupported option \"\(word)\".") }
        return value
    }

    private func integer(_ text: String?) throws(LineFault) -> Int {
        do throws(ConfigNumbers.Problem) { return try ConfigNumbers.integer(text, in: 0...Int(Int32.max)) } catch {
            throw LineFault("integer value \(error.rawValue).")
        }
    }

    /// `none` leaves it open, so that a later line decides.
    private mutating func takeTime(
        _ path: WritableKeyPath<GivenSettings, Int?>, _ arguments: inout LineArguments, _ source: Source
    ) throws(LineFault) {
        let text = try arguments.required("missing time value.")
        if text == "none" { return }
        guard let seconds = ConfigNumbers.seconds(text) else { throw LineFault("invalid time value.") }
        take(path, seconds, source)
    }

    private mutating func takeFiles(
        _ path: WritableKeyPath<GivenSettings, [String]?>, _ keyword: String, _ arguments: inout LineArguments,
        _ source: Source
    ) throws(LineFault) {
        let isFirst = self[keyPath: path] == nil
        var files: [String] = []
        while let file = arguments.next() {
            guard !file.isEmpty else { throw LineFault("keyword \(keyword) empty argument") }
            guard ASCII.lowercased(file) != "none" || files.isEmpty && arguments.isEmpty else {
                throw LineFault("keyword \(keyword) \"none\" argument must appear alone.")
            }
            guard !source.isActive || !isFirst || files.count < Self.mostKnownHostsFiles else {
                throw LineFault("too many \(keyword) entries.")
            }
            files.append(file)
        }
        // A line with nothing but a comment leaves it open.
        if !files.isEmpty { take(path, files, source) }
    }

    private mutating func addIdentity(_ path: String, _ source: Source) throws(LineFault) {
        guard source.isActive else { return }
        guard identities.count < Self.mostIdentities else {
            throw LineFault("Too many identity files specified (max \(Self.mostIdentities)).")
        }
        let identity = Identity(path: path, isUsers: source.isUsers)
        if !identities.contains(identity) { identities.append(identity) }
    }

    private static func agent(_ path: String, _ source: Source) throws(LineFault) -> String {
        do throws(ConfigTokens.Problem) { try ConfigTokens.checkVariables(of: path, in: source.environment) } catch {
            throw LineFault("Invalid environment expansion \(path): \(error.reason)")
        }
        let bytes = Array(path.utf8)
        func isPart(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                || byte == UInt8(ascii: "_")
        }
        // The older way to name a variable.
        if bytes.first == UInt8(ascii: "$"), bytes.count < 2 || bytes[1] != UInt8(ascii: "{") {
            guard bytes.count > 1, bytes.dropFirst().allSatisfy(isPart) else {
                throw LineFault("Invalid environment name \(path).")
            }
        }
        return path
    }

    private static func logLevel(_ text: String?) throws(LineFault) -> String {
        let levels = [
            "SILENT": "QUIET", "QUIET": "QUIET", "FATAL": "FATAL", "ERROR": "ERROR", "INFO": "INFO",
            "VERBOSE": "VERBOSE", "DEBUG": "DEBUG", "DEBUG1": "DEBUG", "DEBUG2": "DEBUG2", "DEBUG3": "DEBUG3",
        ]
        guard let level = levels[text?.uppercased() ?? ""] else {
            throw LineFault("unsupported log level '\(text ?? "<NONE>")'")
        }
        return level
    }

    private mutating func takeForwardAgent(_ word: String, _ source: Source) throws(LineFault) {
        switch ASCII.lowercased(word) {
        case "yes", "true": take(\.forwardsAgent, true, source)
        case "no", "false": take(\.forwardsAgent, false, source)
        default:
            take(\.forwardsAgent, true, source)
            try take(\.agentSocket, Self.agent(word, source), source)
        }
    }

    private mutating func takeRekeyLimit(_ arguments: inout LineArguments, _ source: Source) throws(LineFault) {
        let text = try arguments.required()
        var bytes = 0
        if text != "default" {
            guard let size = ConfigNumbers.size(text) else { throw LineFault("Bad number '\(text)'") }
            guard size == 0 || size >= 16 else { throw LineFault("RekeyLimit too small") }
            bytes = size
        }
        take(\.rekeyBytes, bytes, source)
        if !arguments.isEmpty { try takeTime(\.rekeySeconds, &arguments, source) }
    }

    // MARK: The route

    private mutating func takeProxyCommand(
        _ line: ConfigLine, _ arguments: inout LineArguments, _ source: Source
    ) {
        arguments.removeAll()
        let command = line.wholeValue
        guard source.isActive, proxyCommand == nil else { return }
        proxyCommand = command
        if ASCII.lowercased(command) != "none" {
            reasons.append(SSHReason("ProxyCommand", source.place, "connects through a program"))
        }
    }

    private mutating func takeProxyJump(
        _ line: ConfigLine, _ arguments: inout LineArguments, _ source: Source
    ) throws(LineFault) {
        arguments.removeAll()
        let text = line.wholeValue
        if ASCII.lowercased(text) == "none" {
            if source.isActive, jump == nil { jump = Jump.none }
            return
        }
        guard let hosts = JumpHosts(text) else { throw LineFault("Invalid ProxyJump \"\(text)\"") }
        guard source.isActive, proxyCommand == nil, jump == nil else { return }
        jump = .through(hosts)
        // Of the two keywords the first counts.
        proxyCommand = "none"
        reasons.append(SSHReason("ProxyJump", source.place, "leads through another host"))
    }
}
