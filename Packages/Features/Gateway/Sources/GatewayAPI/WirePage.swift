import Capabilities
import GatewayStore
import HTTPServer

/// A part of a list, as gateways send it.
struct WirePage<Row: OutputValue>: Record {
    let rows: [Row]
    let place: Pagination

    init<Element>(_ page: Page<Element>, _ row: (Element) -> Row) {
        rows = page.items.map(row)
        place = Pagination(
            page: page.request.number, size: page.request.size, total: page.total, pages: page.pages,
            hasNext: page.hasNext, hasPrevious: page.hasPrevious)
    }

    static var fields: [Field<WirePage>] {
        [
            Field("data", "What is on this page") { $0.rows },
            Field("pagination", "Where the page stands") { $0.place },
        ]
    }
}

/// Where a page stands.
struct Pagination: Record {
    let page: Int
    let size: Int
    let total: Int
    let pages: Int
    let hasNext: Bool
    let hasPrevious: Bool

    static let fields: [Field<Pagination>] = [
        Field("page", "Its number, from 1") { $0.page },
        Field("per_page", "How many fit on one") { $0.size },
        Field("total_items", "How many there are in all") { $0.total },
        Field("total_pages", "How many pages there are") { $0.pages },
        Field("has_next", "Whether there is one after it") { $0.hasNext },
        Field("has_prev", "Whether there is one before it") { $0.hasPrevious },
    ]
}

/// A whole list, as OpenAI's API sends it.
struct WireList<Row: OutputValue>: Record {
    let rows: [Row]

    static var fields: [Field<WireList>] {
        [Field("object", "Always list") { _ in "list" }, Field("data", "All there is") { $0.rows }]
    }
}

extension RouteInput where Value == Int {
    static var page: RouteInput { .query("page", "Which page, from 1", in: 1...1_000_000, default: 1) }
    static var pageSize: RouteInput { .query("per_page", "How many on a page", in: 1...100, default: 20) }
}
