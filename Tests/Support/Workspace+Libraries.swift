extension Workspace {
    /// The names after `-l` of the C libraries that packages link or open, with all the packages whose modules they
    /// import. What only tests import is not linked.
    public func libraries(of folders: [String]) throws -> Set<String> {
        let packages = try packages()
        let owners = Dictionary(
            packages.flatMap { package in package.modules.map { ($0.name, package) } },
            uniquingKeysWith: { first, _ in first })
        var found: Set<String> = []
        var seen: Set<String> = []
        var open = packages.filter { folders.contains($0.folder) }
        while let package = open.popLast() {
            guard seen.insert(package.folder).inserted else { continue }
            found.formUnion(package.modules.flatMap(\.links))
            for module in package.modules where module.kind == "target" && !module.name.hasSuffix("Testing") {
                for file in try files(in: module.folder, ending: ".swift") {
                    open += importedModules(in: try text(file)).compactMap { owners[$0] }
                }
            }
        }
        return found
    }
}
