import Cryptography

/// What `%h` and the like stand for in the settings of one host, and the other things that ssh expands.
struct ConfigTokens: Sendable, Hashable {
    /// A text with something that cannot be expanded.
    struct Problem: Error {
        let reason: String
    }

    private let values: [UInt8: String]
    private let home: String
    private let environment: [String: String]

    /// - Parameters:
    ///   - given: the name as it was given.
    ///   - host: the name that is connected to.
    init(given: String, host: String, port: Int, user: String, alias: String?, account: SSHAccount) {
        let connection = account.machine + host + String(port) + user
        let hash = Digest.sha1(Array(connection.utf8)).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        let named: [Character: String] = [
            "C": hash.joined(), "L": account.shortMachine, "i": String(account.userID), "k": alias ?? given,
            "l": account.machine, "n": given, "p": String(port), "d": account.home, "h": host, "r": user,
            "u": account.name,
        ]
        values = Dictionary(uniqueKeysWithValues: named.compactMap { key, value in key.asciiValue.map { ($0, value) } })
        home = account.home
        environment = account.environment
    }

    /// The home directory in front, then tokens and variables.
    func expandingAll(_ text: String) throws(Problem) -> String {
        try expanding(Self.expandingHome(text, home: home))
    }

    /// Tokens and variables.
    func expanding(_ text: String) throws(Problem) -> String {
        try Self.expanding(text, values, environment)
    }

    /// A name of a host, in which only the given name is a token.
    static func expanding(hostName text: String, of given: String) throws(Problem) -> String {
        try expanding(text, [UInt8(ascii: "h"): given], nil)
    }

    /// Whether all variables of a text exist. ssh refuses some lines without.
    static func checkVariables(of text: String, in environment: [String: String]) throws(Problem) {
        _ = try expanding(text, nil, environment)
    }

    /// A path with the home directory for `~` or `~user` in front.
    static func expandingHome(_ text: String, home: String) throws(Problem) -> String {
        guard text.utf8.first == UInt8(ascii: "~") else { return text }
        let slash = UInt8(ascii: "/")
        let bytes = Array(text.utf8.dropFirst())
        let user = String(decoding: bytes.prefix { $0 != slash }, as: UTF8.self)
        guard let folder = user.isEmpty ? home : SSHAccount.home(of: user) else {
            throw Problem(reason: "there is no user \(user)")
        }
        let rest = String(decoding: bytes.drop { $0 != slash }.drop { $0 == slash }, as: UTF8.self)
        return folder.utf8.last == slash ? folder + rest : "\(folder)/\(rest)"
    }

    /// - Parameters:
    ///   - values: nil if `%` stands for itself.
    ///   - variables: nil if `${` stands for itself.
    private static func expanding(
        _ text: String, _ values: [UInt8: String]?, _ variables: [String: String]?
    ) throws(Problem) -> String {
        let (percent, dollar) = (UInt8(ascii: "%"), UInt8(ascii: "$"))
        let bytes = Array(text.utf8)
        guard bytes.contains(where: { $0 == percent || $0 == dollar }) else { return text }
        var expanded: [UInt8] = []
        var place = 0
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if let variables, byte == dollar, place < bytes.count, bytes[place] == UInt8(ascii: "{") {
                guard let end = bytes[place...].firstIndex(of: UInt8(ascii: "}")) else {
                    throw Problem(reason: "a variable has no closing '}'")
                }
                let name = String(decoding: bytes[(place + 1)..<end], as: UTF8.self)
                guard let value = variables[name] else { throw Problem(reason: "the variable ${\(name)} has no value") }
                expanded += value.utf8
                place = end + 1
            } else if let values, byte == percent {
                guard place < bytes.count else { throw Problem(reason: "it ends with '%'") }
                let key = bytes[place]
                if key == percent {
                    expanded.append(percent)
                } else if let value = values[key] {
                    expanded += value.utf8
                } else {
                    throw Problem(reason: "there is no token %\(String(UnicodeScalar(key)))")
                }
                place += 1
            } else {
                expanded.append(byte)
            }
        }
        return String(decoding: expanded, as: UTF8.self)
    }
}
