import Registry

/// The features of this build: one entry each, in or out by its trait. `make feature NAME=` adds one.
enum BuiltInFeatures {
    static let all: [BuiltInFeature] = [
    ]
}
