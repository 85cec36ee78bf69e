import WorkspaceSupport

/// A storey of the house; arrows between packages point down.
enum Layer: String {
    case core = "Core"
    case kit = "Kits"
    case feature = "Features"
    case frontend = "Frontends"

    /// Where a package is says what it is: `Packages/Core`, `Packages/Kits/HTTPKit`.
    init?(_ package: PackageSource) {
        let parts = package.folder.split(separator: "/")
        guard parts.count > 1, let layer = Layer(rawValue: String(parts[1])) else { return nil }
        self = layer
    }

    /// Whether a package of this layer may use one of the other in its sources.
    func mayUse(_ other: Layer) -> Bool {
        switch self {
        case .core: false
        case .kit, .feature: other == .core || other == .kit
        case .frontend: other != .feature
        }
    }
}
