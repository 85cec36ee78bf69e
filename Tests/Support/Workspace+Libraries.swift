extension Workspace {
    /// The names after `-l` of the C libraries that packages link or open, with all the packages below them.
    public func libraries(of folders: [String]) throws -> Set<String> {
        let packages = Dictionary(uniqueKeysWithValues: try packages().map { ($0.folder, $0) })
        var found: Set<String> = []
        var seen: Set<String> = []
        var open = folders
        while let folder = open.popLast() {
            guard seen.insert(folder).inserted, let package = packages[folder] else { continue }
            found.formUnion(package.modules.flatMap(\.links))
            open += package.dependencies
        }
        return found
    }
}
