import PackagePlugin

/// The name of a new feature, which is also the name of its package, module and trait. The id is the same in lower
/// case.
struct FeatureName: CustomStringConvertible {
    let description: String
    var id: String { description.lowercased() }

    /// Refuses a name that cannot be a module, a trait or an id, or that is already used.
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
            throw Refusal("'\(text)' is a Swift keyword; choose another name")
        }
        let id = text.lowercased()
        if Self.commands.contains(id) {
            throw Refusal("'martlet \(id)' is a command or a setting of every build; choose another name")
        }
        // Ignores case, because package identities and feature ids have no case.
        if let taken = (Self.systemModules + Self.names(of: package)).first(where: { $0.lowercased() == id }) {
            throw Refusal("a package or module \(taken) already exists; choose another name")
        }
        description = text
    }

    private static let letters: Set<UnicodeScalar> = Set(("a"..."z").scalars + ("A"..."Z").scalars)
    private static let digits: Set<UnicodeScalar> = Set(("0"..."9").scalars)
    private static let keywords = ["Any", "Protocol", "Self", "Type"]
    /// The first words of the actions and settings of the host and the runner. A test compares those of the host with a
    /// bare build.
    private static let commands = [
        "access", "commands", "completion", "config", "data", "docs", "doctor", "features", "file", "help", "host",
        "profile", "profiles", "run", "runner", "runs", "screen", "shell", "terminal", "version",
    ]
    private static let systemModules = [
        "Builtin", "CxxStdlib", "Dispatch", "Distributed", "Foundation", "FoundationEssentials", "Glibc", "Observation",
        "RegexBuilder", "Swift", "Synchronization", "Testing", "XCTest",
    ]

    /// The names of all packages, products and modules of this package and its dependencies.
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
