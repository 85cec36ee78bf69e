import Foundation
import PackagePlugin

/// The arguments of the command, checked before anything is written.
struct Request {
    let folder: URL
    let name: String
    let features: [String]
    /// The name of an additional new feature, if one was requested.
    let own: String?
    /// Whether to build quickly instead of small.
    let isDebug: Bool
    /// The folder for build products. A host can reuse those of another host.
    let objects: URL

    init(_ arguments: [String], in context: PluginContext) throws {
        var words = ArgumentExtractor(arguments)
        let names = words.extractOption(named: "name")
        let lists = words.extractOption(named: "features")
        let owns = words.extractOption(named: "own")
        isDebug = words.extractFlag(named: "debug") > 0
        let places = words.extractOption(named: "objects")
        if let unknown = words.unextractedOptionsOrFlags.first {
            throw Refusal("unknown option \(unknown); \(Self.usage)")
        }
        guard words.remainingArguments.count == 1, let path = words.remainingArguments.first, let name = names.last
        else { throw Refusal(Self.usage) }
        folder = URL(filePath: path, directoryHint: .isDirectory).standardizedFileURL
        self.name = name
        features = lists.flatMap { $0.split(separator: ",") }.map(String.init)
        own = owns.last.map { $0.hasSuffix("Feature") && $0 != "Feature" ? String($0.dropLast(7)) : $0 }
        objects = places.last.map { URL(filePath: $0) } ?? folder.appending(path: ".build")
        let checkout = Checkout(context.package)
        try checkNames(in: checkout)
        try checkFolder(in: checkout)
        // The SwiftPM process that runs this plugin holds the lock of its build folder until the plugin ends.
        if context.pluginWorkDirectoryURL.path.hasPrefix(objects.path + "/") {
            throw Refusal("\(objects.path) is in use by this command; choose another place for --objects")
        }
    }

    static let usage = """
        usage: swift package --allow-writing-to-directory DIR compose DIR --name NAME --features A,B \
        [--own C] [--debug] [--objects PATH]
        """

    private func checkNames(in checkout: Checkout) throws {
        guard name.wholeMatch(of: /[A-Za-z][A-Za-z0-9_-]*/) != nil else {
            throw Refusal("'\(name)' cannot name a program; use letters, digits and hyphens, as in mybench")
        }
        if let taken = checkout.taken(name) {
            throw Refusal("a module \(taken) already exists; choose another --name")
        }
        if features.isEmpty && own == nil { throw Refusal("choose at least one: --features \(checkout.known)") }
        for feature in features where !checkout.features.contains(feature) {
            throw Refusal("there is no feature '\(feature)'; known here: \(checkout.known)")
        }
        if Set(features).count < features.count { throw Refusal("--features names one of them twice") }
        guard let own else { return }
        guard own.wholeMatch(of: /[A-Z][A-Za-z0-9]*/) != nil else {
            throw Refusal("'\(own)' cannot name a feature; begin with an upper-case letter, as in Greeting")
        }
        if let taken = checkout.taken(own) {
            throw Refusal("a module \(taken) already exists; choose another --own")
        }
    }

    private func checkFolder(in checkout: Checkout) throws {
        if folder.path == checkout.root || folder.path.hasPrefix(checkout.root + "/") {
            throw Refusal("\(folder.path) is inside this checkout; choose a folder outside")
        }
        // SwiftPM identifies a package by the last component of its folder and treats two with the same name as one
        // package.
        if let taken = checkout.taken(folder.lastPathComponent) {
            throw Refusal("a folder cannot have the name of the package \(taken), which the host uses; choose another")
        }
        guard FileManager.default.fileExists(atPath: folder.path) else { return }
        guard try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty else {
            throw Refusal("\(folder.path) is not empty; choose a new folder")
        }
    }
}

/// What a host outside this checkout can use, and the names that are taken.
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

    /// The package, product or module with this name. Package identities have no case.
    func taken(_ name: String) -> String? {
        names.first { $0.lowercased() == name.lowercased() }
    }
}
