/** The ledger's time, as an expression that the server works out in the statement that it stands in. */
export type Now = () => object

/** The primary's clock, in milliseconds. */
export const serverNow: Now = () => ({ $toLong: '$$NOW' })
