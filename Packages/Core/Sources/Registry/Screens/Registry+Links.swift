public import Screens

extension Registry {
    /// The links that lead somewhere in this composition, for those to what another feature offers.
    public func present(_ links: [Link]) -> [Link] {
        links.filter { link in
            switch link.target {
            case .action(let id): actions[id] != nil
            case .screen(let id): screens[id] != nil
            }
        }
    }
}
