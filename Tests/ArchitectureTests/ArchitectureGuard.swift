import WorkspaceSupport

/// Finds the arrows between packages that the design forbids, in manifests and in imports.
struct ArchitectureGuard {
    private let workspace: Workspace
    private let packages: [PackageSource]
    private let owners: [String: PackageSource]
    private let systemLibraries: Set<String>

    init(_ workspace: Workspace) throws {
        self.workspace = workspace
        packages = try workspace.packages()
        owners = Dictionary(
            packages.flatMap { package in package.modules.map { ($0.name, package) } },
            uniquingKeysWith: { first, _ in first })
        systemLibraries = Set(packages.flatMap { $0.systemLibraries.map(\.name) })
    }

    /// Every forbidden arrow, as a sentence.
    func violations() throws -> [String] {
        try packages.flatMap { try manifestViolations($0) + importViolations($0) } + linkViolations() + appViolations()
    }

    /// Tests of features perform actions as the host does, so their packages may depend on it; their sources may not
    /// import it.
    private static let host = "Packages/Frontends/Host"

    // MARK: Manifests

    private func manifestViolations(_ package: PackageSource) -> [String] {
        var found = package.hasOutsideDependencies ? ["\(package.folder) depends on a package from outside"] : []
        guard let layer = Layer(package) else { return found + ["\(package.folder) is in no layer"] }
        for folder in package.dependencies {
            let other = packages.first { $0.folder == folder }
            guard let other, let below = Layer(other) else {
                found.append("\(package.folder) depends on '\(folder)', which is no package of a layer")
                continue
            }
            if !layer.mayUse(below), layer != .feature || folder != Self.host {
                found.append("\(package.folder) must not depend on \(folder)")
            }
        }
        return found
    }

    /// A C library has one owner, so that its errors, its memory and its version are handled in one place.
    private func linkViolations() -> [String] {
        let links = packages.flatMap { package in
            package.modules.flatMap(\.links).map { (library: $0, package: package.folder) }
        }
        return Dictionary(grouping: links, by: \.library).filter { $0.value.count > 1 }.map { library, owners in
            "lib\(library) has more than one owner: \(owners.map(\.package).sorted().joined(separator: ", "))"
        }
    }

    // MARK: Imports

    private func importViolations(_ package: PackageSource) throws -> [String] {
        try package.modules.flatMap { module in
            try workspace.files(in: module.folder, ending: ".swift").flatMap { file in
                let imports = importedModules(in: try workspace.text(file))
                let foundation = module.kind == "testTarget" ? [] : imports.filter(Self.isFoundation)
                return foundation.map { "\(file) imports \($0)" }
                    + imports.compactMap { reason(against: $0, in: module, of: package) }.map { "\(file) \($0)" }
            }
        }
    }

    private func reason(
        against name: String, in module: PackageSource.Module, of package: PackageSource
    ) -> String? {
        guard let owner = owners[name] else { return nil }
        if owner.folder == package.folder {
            return isUpward(name, in: module.name) ? "imports \(name), which is above it" : nil
        }
        if systemLibraries.contains(name) { return "imports \(name), which belongs to \(owner.folder)" }
        if let layer = Layer(package), let other = Layer(owner), !layer.mayUse(other) {
            let isHostInTest = layer == .feature && owner.folder == Self.host && module.kind == "testTarget"
            if !isHostInTest { return "must not import \(name)" }
        }
        return package.dependencies.contains(owner.folder)
            ? nil : "imports \(name) without depending on \(owner.folder)"
    }

    /// The modules of Core from the bottom up; no other package is large enough to have an order of its own.
    private static let coreModules = ["JSON", "Capabilities", "Settings", "Registry"]

    private func isUpward(_ name: String, in module: String) -> Bool {
        guard let above = Self.coreModules.firstIndex(of: name), let own = Self.coreModules.firstIndex(of: module)
        else { return false }
        return above > own
    }

    /// The programs may use every package, but neither a C library past its owner nor what starts slowly.
    private func appViolations() throws -> [String] {
        try workspace.files(in: "Apps", ending: ".swift").filter { !$0.hasPrefix("Apps/bench/") }.flatMap { file in
            importedModules(in: try workspace.text(file)).compactMap { name in
                if Self.isFoundation(name) { return "\(file) imports \(name)" }
                guard systemLibraries.contains(name), let owner = owners[name] else { return nil }
                return "\(file) imports \(name), which belongs to \(owner.folder)"
            }
        }
    }

    /// Foundation, FoundationEssentials, FoundationNetworking and the rest of that family.
    private static func isFoundation(_ module: String) -> Bool {
        module.hasPrefix("Foundation") || module.hasPrefix("_Foundation")
    }
}
