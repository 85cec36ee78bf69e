public import Capabilities

extension ActionArguments {
    /// The parameters `limit` and `page` of an action that lists what a query finds.
    public static func pages<Query: PagedQuery>(
        of query: @autoclosure @escaping @Sendable () -> WritableKeyPath<Self, Query>
    ) -> [ArgumentBinding<Self>] {
        // The limit comes first, because the page depends on it.
        [
            bind(
                query().appending(path: \.limit),
                .option("limit", "Maximum number of results", in: 1...1000, default: 50)),
            bind(
                query().appending(path: \.page), .option("page", "Which page of results", in: 1...1_000_000, default: 1)
            ),
        ]
    }
}

extension ActionContext {
    /// The rows of a page. Tells the person how many follow, or why there are none.
    ///
    /// - Parameter total: the number of rows on all pages.
    public func rows<Row>(
        _ rows: [Row], of total: Int, on query: some PagedQuery, orSay text: @autoclosure () -> String
    ) -> [Row] {
        let rest = total - query.offset - rows.count
        if rest > 0, !rows.isEmpty { notice("\(rest) more; '--page \(query.page + 1)' shows the next") }
        return self.rows(rows, orSay: text())
    }
}
