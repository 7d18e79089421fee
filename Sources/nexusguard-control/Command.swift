// SPDX-License-Identifier: MIT

@main
struct Command {
    static func main() {}
}
