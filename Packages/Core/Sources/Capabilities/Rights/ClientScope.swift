/// What a client of a server of ours may do there.
public enum ClientScope: String, Choice, Hashable {
    /// Ask models, and have turns run.
    case chat
    /// Look at what there is: projects, sessions, files, usage.
    case read
    /// Agree to what a model wants to do, or do the like.
    case approve
    /// Change what is allowed: rules, projects.
    case admin
}
