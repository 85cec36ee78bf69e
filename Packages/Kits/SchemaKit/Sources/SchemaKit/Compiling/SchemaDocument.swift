import JSON

/// The subschemas of a document, found before anything is compiled, so that references may lead forward.
struct SchemaDocument {
    /// A subschema: where it is, and what it says.
    struct Entry {
        let json: JSON
        let place: Int
        let resource: Int
    }

    /// A part of the document with an identifier of its own; the first one is the document.
    struct Resource {
        let address: String
        let entry: Int
        var anchors: [String: Int] = [:]
        var dynamicAnchors: [String: Int] = [:]
    }

    enum Target {
        case entry(Int)
        /// The reference leads to another document.
        case outside
        case missing
    }

    private struct Step: Hashable {
        let parent: Int
        let name: ByteName
    }

    private static let longestAddress = 4096

    private(set) var entries: [Entry] = []
    private(set) var resources: [Resource] = []
    private(set) var places = [SchemaPlace(parent: 0, name: "")]
    private(set) var faults: SchemaFaults
    private var steps: [Step: Int] = [:]
    private var entryAtPlace: [Int: Int] = [:]
    private var addresses: [String: Int] = [:]
    private let limits: JSONSchema.Limits
    let dialect: SchemaDialect

    init(_ schema: JSON, _ limits: JSONSchema.Limits) {
        self.limits = limits
        dialect = SchemaDialect(schema)
        faults = SchemaFaults(limit: limits.problems)
        add(schema, at: 0, in: -1, depth: 0)
    }

    // MARK: Finding subschemas

    /// Adds a subschema and those in it.
    private mutating func add(_ json: JSON, at place: Int, in parent: Int, depth: Int) {
        guard entryAtPlace[place] == nil, !faults.isStopped else { return }
        guard depth <= limits.nesting else { return faults.stop("is nested deeper than \(limits.nesting) levels") }
        guard entries.count < limits.subschemas else {
            return faults.stop("has more than \(limits.subschemas) subschemas")
        }
        let entry = entries.count
        entryAtPlace[place] = entry
        let resource = self.resource(of: json, at: place, entry, in: parent)
        entries.append(Entry(json: json, place: place, resource: resource))
        guard let members = json.object else { return }
        addAnchors(members, entry, resource, place)
        for (keyword, value) in members {
            switch SchemaDialect.parts(of: keyword) {
            case .none: continue
            case .one: addPart(value, [keyword], place, resource, depth)
            case .oneOrMany where value.array == nil: addPart(value, [keyword], place, resource, depth)
            case .many, .oneOrMany:
                for (index, part) in (value.array ?? []).enumerated() {
                    addPart(part, [keyword, String(index)], place, resource, depth)
                }
            case .named:
                for (name, part) in value.object ?? [:] where part.array == nil || keyword != "dependencies" {
                    addPart(part, [keyword, name], place, resource, depth)
                }
            }
        }
    }

    private mutating func addPart(_ json: JSON, _ path: [String], _ place: Int, _ resource: Int, _ depth: Int) {
        guard !faults.isStopped else { return }
        let below = path.reduce(place) { self.place($1, below: $0) }
        add(json, at: below, in: resource, depth: depth + 1)
    }

    private mutating func place(_ name: String, below parent: Int) -> Int {
        let step = Step(parent: parent, name: ByteName(name))
        if let known = steps[step] { return known }
        places.append(SchemaPlace(parent: parent, name: name))
        steps[step] = places.count - 1
        return places.count - 1
    }

    /// The resource that a subschema begins with its `$id`, or that of the schema around it.
    private mutating func resource(of json: JSON, at place: Int, _ entry: Int, in parent: Int) -> Int {
        let identifier = dialect.identifier(of: json)
        guard let identifier, !identifier.hasPrefix("#") || parent < 0 else {
            if parent >= 0 { return parent }
            resources.append(Resource(address: "", entry: entry))
            addresses[""] = 0
            return 0
        }
        let base = parent >= 0 ? resources[parent].address : ""
        let address = ReferenceAddress.resolve(ReferenceAddress(identifier).address, in: base)
        if address.utf8.count > Self.longestAddress {
            faults.add("leads to an address of more than \(Self.longestAddress) bytes", at: pointer(place) + "/$id")
            if parent >= 0 { return parent }
        }
        if let other = addresses[address], address.utf8.count > 0 {
            faults.add("has the same $id as \(shownPlace(of: resources[other].entry))", at: pointer(place) + "/$id")
            return parent >= 0 ? parent : 0
        }
        resources.append(Resource(address: address, entry: entry))
        addresses[address] = resources.count - 1
        return resources.count - 1
    }

    private mutating func addAnchors(_ members: JSONObject, _ entry: Int, _ resource: Int, _ place: Int) {
        var names: [(name: String, keyword: String, isDynamic: Bool)] = []
        if let name = members["$anchor"]?.string { names.append((name, "$anchor", false)) }
        if let name = members["$dynamicAnchor"]?.string { names.append((name, "$dynamicAnchor", true)) }
        if let identifier = members["$id"]?.string, identifier.hasPrefix("#"), identifier.utf8.count > 1 {
            names.append((String(identifier.dropFirst()), "$id", false))
        }
        for (name, keyword, isDynamic) in names {
            if let other = resources[resource].anchors[name], other != entry {
                faults.add(
                    "names the same anchor as \(shownPlace(of: other))", at: pointer(place) + "/" + keyword)
            }
            resources[resource].anchors[name] = entry
            if isDynamic { resources[resource].dynamicAnchors[name] = entry }
        }
    }

    // MARK: Looking up

    /// The JSON pointer of a place.
    func pointer(_ place: Int) -> String { SchemaPlace.pointer(to: place, in: places) }

    private func shownPlace(of entry: Int) -> String {
        // The entry that is being added is not in the list yet.
        let pointer = entry < entries.count ? self.pointer(entries[entry].place) : ""
        return pointer.isEmpty ? "the whole schema" : pointer
    }

    /// The subschema at a path below another one.
    func entry(_ path: [String], below entry: Int) -> Int {
        var place = entries[entry].place
        for name in path {
            guard let next = steps[Step(parent: place, name: ByteName(name))] else { return -1 }
            place = next
        }
        return entryAtPlace[place] ?? -1
    }

    /// Where a reference leads that is written in a resource. The target may be a part of the document that has not been
    /// known as a schema.
    mutating func target(of text: String, in resource: Int) -> Target {
        let reference = ReferenceAddress(text)
        let address = ReferenceAddress.resolve(reference.address, in: resources[resource].address)
        let found = reference.address.isEmpty ? resource : addresses[address]
        guard let found else { return .outside }
        if reference.fragment.isEmpty { return .entry(resources[found].entry) }
        guard let names = Pointer.names(reference.fragment) else {
            return resources[found].anchors[reference.fragment].map(Target.entry) ?? .missing
        }
        var (json, place, inner) = (entries[resources[found].entry].json, entries[resources[found].entry].place, found)
        for name in names {
            let next = json.object != nil ? json[name] : Int(name).flatMap { String($0) == name ? json[$0] : nil }
            guard let next else { return .missing }
            json = next
            place = self.place(name, below: place)
            if let entry = entryAtPlace[place] { inner = entries[entry].resource }
        }
        guard json.object != nil || json.bool != nil else { return .missing }
        add(json, at: place, in: inner, depth: names.count)
        return entryAtPlace[place].map(Target.entry) ?? .missing
    }

    /// The subschema with a dynamic anchor in each resource that has one.
    func dynamicAnchors(_ name: String) -> [(resource: Int32, node: Int32)] {
        resources.enumerated().compactMap { index, resource in
            resource.dynamicAnchors[name].map { (Int32(index), Int32($0)) }
        }
    }

    mutating func fault(_ message: String, at place: String) {
        faults.add(message, at: place)
    }
}

/// The problems of a schema, up to a limit.
struct SchemaFaults {
    private let limit: Int
    private(set) var problems: [JSONSchema.Problem] = []
    private(set) var hasMore = false
    /// Set once a limit is reached, after which nothing more is read.
    private(set) var isStopped = false

    init(limit: Int) {
        self.limit = limit
    }

    mutating func add(_ message: String, at place: String) {
        guard problems.count < limit else {
            hasMore = true
            return
        }
        problems.append(JSONSchema.Problem(place: place, keyword: place, message: message))
    }

    mutating func stop(_ message: String) {
        guard !isStopped else { return }
        isStopped = true
        problems = [JSONSchema.Problem(place: "", keyword: "", message: message)]
        hasMore = false
    }
}
