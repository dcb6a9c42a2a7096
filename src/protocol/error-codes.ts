// The numbers of JSON-RPC, of MCP, and of our own. Ours are positive: -32768..-32000 is reserved
// (2026-07-28, basic/index, "Error Codes").

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
/** 2025-11-25 and earlier only. */
export const LEGACY_RESOURCE_NOT_FOUND = -32002;
/** 2025-11-25 only. */
export const LEGACY_URL_ELICITATION_REQUIRED = -32042;
export const HEADER_MISMATCH = -32020;
export const MISSING_CLIENT_CAPABILITY = -32021;
export const UNSUPPORTED_PROTOCOL_VERSION = -32022;

export const TOKEN_REQUIRED = 4010;
export const SCOPE_REQUIRED = 4030;
export const CONDITION_REFUSED = 4031;
export const SESSION_UNKNOWN = 4040;
export const VIEW_UNKNOWN = 4041;
export const RATE_LIMITED = 4290;
export const SERVER_UNAVAILABLE = 5020;
export const CREDENTIAL_REFUSED = 5021;
export const NO_CAPACITY = 5030;
export const STORE_UNAVAILABLE = 5031;
export const ISSUER_UNAVAILABLE = 5032;
export const AUDIT_UNAVAILABLE = 5033;
export const DEADLINE_PASSED = 5040;
