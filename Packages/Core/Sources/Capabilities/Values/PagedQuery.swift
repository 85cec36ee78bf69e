/// A query whose results are listed in pages.
public protocol PagedQuery: Sendable {
    /// The maximum number of results.
    var limit: Int { get set }
    /// How many results to skip.
    var offset: Int { get set }
}

extension PagedQuery {
    /// The number of the page, from 1. Set it after `limit`, which is the size of a page.
    public var page: Int {
        get { offset / max(1, limit) + 1 }
        set { offset = (newValue - 1) * limit }
    }
}
