import Capabilities
import GatewayStore
import HTTPServer

/// One page of a list, as gateways send it.
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
            Field("data", "Items on this page") { $0.rows },
            Field("pagination", "Position of the page in the list") { $0.place },
        ]
    }
}

/// The position of a page in its list.
struct Pagination: Record {
    let page: Int
    let size: Int
    let total: Int
    let pages: Int
    let hasNext: Bool
    let hasPrevious: Bool

    static let fields: [Field<Pagination>] = [
        Field("page", "Page number, from 1") { $0.page },
        Field("per_page", "Items per page") { $0.size },
        Field("total_items", "Number of items on all pages") { $0.total },
        Field("total_pages", "Number of pages") { $0.pages },
        Field("has_next", "Whether there is a next page") { $0.hasNext },
        Field("has_prev", "Whether there is a previous page") { $0.hasPrevious },
    ]
}

/// A whole list, as OpenAI's API sends it.
struct WireList<Row: OutputValue>: Record {
    let rows: [Row]

    static var fields: [Field<WireList>] {
        [Field("object", "Always list") { _ in "list" }, Field("data", "All items") { $0.rows }]
    }
}

extension RouteInput where Value == Int {
    static var page: RouteInput { .query("page", "Page number, from 1", in: 1...1_000_000, default: 1) }
    static var pageSize: RouteInput { .query("per_page", "Items per page", in: 1...100, default: 20) }
}
