// SPDX-License-Identifier: MIT

/// The header fields of everything that the page's listener sends.
enum PageHeaders {
    /// Nothing from elsewhere is loaded, nothing inline runs, and no other page embeds, opens or reads this one.
    ///
    /// There is no field of CORS, ever: without one no other page may read an answer.
    static let all: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            [
                "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
                "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
                "require-trusted-types-for 'script'",
            ].joined(separator: "; ")
        ),
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("X-Frame-Options", "DENY"),
        (
            "Permissions-Policy",
            [
                "camera=()", "display-capture=()", "geolocation=()", "hid=()", "microphone=()", "midi=()",
                "payment=()", "serial=()", "usb=()",
            ].joined(separator: ", ")
        ),
        ("Cache-Control", "no-store"),
    ]
}
