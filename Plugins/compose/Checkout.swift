import PackagePlugin

/// What of this checkout a host elsewhere can use, and which names it must not use again.
struct Checkout {
    let root: String
    let features: [String]
    private let names: [String]

    init(_ package: Package) {
        let root = package.directoryURL.path
        let below = package.dependencies.map(\.package)
        self.root = root
        let folder = root + "/Packages/Features/"
        features = below.filter { $0.directoryURL.path.hasPrefix(folder) }.map(\.displayName).sorted()
        names = below.flatMap { [$0.displayName] + $0.products.map(\.name) + $0.targets.map(\.name) }
    }

    /// The features as a list for a person.
    var known: String {
        features.isEmpty ? "none; make one with make feature NAME=Weather" : features.joined(separator: ", ")
    }

    /// The package, product or module that has this name; case makes no difference to package identities.
    func taken(_ name: String) -> String? {
        names.first { $0.lowercased() == name.lowercased() }
    }
}
