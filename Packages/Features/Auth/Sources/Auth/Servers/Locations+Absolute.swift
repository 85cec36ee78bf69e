import Registry

extension Locations {
    /// A path as it is meant where the command runs.
    func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : "\(current)/\(path)"
    }
}
