import PackagePlugin

/// The name of a new feature: that of its package, module and trait. Its id is the same in lower case.
struct FeatureName: CustomStringConvertible {
    let description: String
    var id: String { description.lowercased() }

    /// Refuses what could not be a module, a trait or an id, or is one already.
    init(_ text: String, in package: Package) throws {
        guard let first = text.unicodeScalars.first else {
            throw Refusal("a feature needs a name: make feature NAME=Weather")
        }
        guard text.unicodeScalars.allSatisfy({ Self.letters.contains($0) || Self.digits.contains($0) }) else {
            throw Refusal("'\(text)' cannot name a module; use letters and digits, as in WebSearch")
        }
        guard ("A"..."Z").contains(first) else {
            throw Refusal("'\(text)' must begin with an upper-case letter, as in Weather")
        }
        if Self.keywords.contains(text) {
            throw Refusal("'\(text)' is a word of the Swift language; choose another name")
        }
        let id = text.lowercased()
        if Self.commands.contains(id) {
            throw Refusal("'martlet \(id)' is a command or a setting of every build; choose another name")
        }
        // Without regard to case, because package identities and feature ids have none.
        if let taken = (Self.systemModules + Self.names(of: package)).first(where: { $0.lowercased() == id }) {
            throw Refusal("there is a package or module \(taken) already; choose another name")
        }
        description = text
    }

    private static let letters: Set<UnicodeScalar> = Set(("a"..."z").scalars + ("A"..."Z").scalars)
    private static let digits: Set<UnicodeScalar> = Set(("0"..."9").scalars)
    private static let keywords = ["Any", "Protocol", "Self", "Type"]
    /// The first words of the host's own and the runner's actions and settings; a test compares the host's with a bare build.
    private static let commands = [
        "access", "commands", "completion", "config", "data", "docs", "doctor", "features", "file", "help", "host",
        "profile",
        "profiles", "run", "runner", "runs", "shell", "terminal", "version",
    ]
    private static let systemModules = [
        "Builtin", "CxxStdlib", "Dispatch", "Distributed", "Foundation", "FoundationEssentials", "Glibc", "Observation",
        "RegexBuilder", "Swift", "Synchronization", "Testing", "XCTest",
    ]

    /// Packages, products and modules, of this package and of all below it.
    private static func names(of package: Package) -> [String] {
        [package.displayName] + package.products.map(\.name) + package.targets.map(\.name)
            + package.dependencies.flatMap { names(of: $0.package) }
    }
}

extension ClosedRange<UnicodeScalar> {
    fileprivate var scalars: [UnicodeScalar] {
        (lowerBound.value...upperBound.value).compactMap(UnicodeScalar.init)
    }
}
