public import Capabilities

/// What commands of models are kept from, as a setting says it.
public enum Confinement: String, Choice, Hashable {
    /// Nothing: they may do what the user may do.
    case none
    /// All of this machine but the programs of the system and one folder.
    case folder
    /// That, and the network.
    case isolated

    /// Nil where there is to be none.
    public func sandbox(home: String?, showing shown: [String], hiding hidden: [String]) -> Sandbox? {
        if self == .none { return nil }
        return Sandbox(hasNetwork: self == .folder, home: home, showing: shown, hiding: hidden)
    }
}
