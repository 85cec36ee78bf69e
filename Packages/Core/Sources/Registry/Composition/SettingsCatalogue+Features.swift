public import Settings

extension SettingsCatalogue {
    /// Every setting of the features in a build, and the names of those that are left out of it.
    public init(of list: [BuiltInFeature]) {
        self.init(features: list.filter { !$0.isEssential }.compactMap { $0.type?.manifest.id })
        for entry in list {
            if let manifest = entry.type?.manifest {
                add(manifest.settings, of: manifest.id)
            } else {
                addAbsent(entry.id, "is not in this build; \(entry.mend(in: list))")
            }
        }
        closeWithProfiles()
    }
}

extension BuiltInFeature {
    /// How to get a feature that is not in this build, with those that are.
    func mend(in list: [BuiltInFeature]) -> String {
        let traits = list.filter { !$0.isEssential && ($0.type != nil || $0.trait == trait) }.map(\.trait)
        return "build with 'make build TRAITS=\(traits.joined(separator: ","))'"
    }
}
