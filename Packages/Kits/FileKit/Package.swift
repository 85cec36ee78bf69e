// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "FileKit",
    products: [.library(name: "FileKit", targets: ["FileKit"])],
    dependencies: [.package(path: "../../Core")],
    targets: [
        .target(name: "CFileKit"),
        .target(name: "FileKit", dependencies: ["CFileKit", .product(name: "Core", package: "Core")]),
        .testTarget(
            name: "FileKitTests", dependencies: ["FileKit", .product(name: "CoreTesting", package: "Core")]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
