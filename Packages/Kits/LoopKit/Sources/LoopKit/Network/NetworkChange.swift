/// Something about the network that makes what is connected worth a new try.
public enum NetworkChange: Sendable, Hashable {
    /// An interface can be used now, or no longer.
    case link(interface: Int, isUp: Bool)
    /// An interface has got an address, or lost one.
    case address(interface: Int, isThere: Bool)
    /// A way to everywhere else has come, or gone.
    case route(interface: Int, isThere: Bool)
    /// The machine has slept.
    case resumed
    /// More happened than the kernel could keep.
    case many
}
