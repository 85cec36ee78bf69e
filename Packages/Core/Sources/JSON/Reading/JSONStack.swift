/// Values that wait for the end of their array or object, so that each of those is allocated once, at its size.
@safe struct JSONStack<Element>: ~Copyable {
    private var storage = unsafe UnsafeMutableBufferPointer<Element>(start: nil, count: 0)
    private(set) var count = 0

    deinit {
        unsafe storage.extracting(..<count).deinitialize()
        unsafe storage.deallocate()
    }

    subscript(_ place: Int) -> Element {
        get { unsafe storage[place] }
        set { unsafe storage[place] = newValue }
    }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if unsafe count == storage.count { grow() }
        unsafe storage.initializeElement(at: count, to: element)
        count += 1
    }

    /// Takes the elements from `start` on.
    mutating func pop(from start: Int) -> [Element] {
        let size = count - start
        count = start
        return unsafe Array(unsafeUninitializedCapacity: size) { elements, initialized in
            _ = unsafe elements.moveInitialize(fromContentsOf: storage.extracting(start..<start + size))
            initialized = size
        }
    }

    @inline(never)
    private mutating func grow() {
        let larger = unsafe UnsafeMutableBufferPointer<Element>.allocate(capacity: max(64, storage.count * 2))
        _ = unsafe larger.moveInitialize(fromContentsOf: storage)
        unsafe storage.deallocate()
        unsafe storage = unsafe larger
    }
}
