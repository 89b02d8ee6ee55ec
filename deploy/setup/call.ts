export type Fields = Record<string, unknown>

/** A call of an operation, in an organization or for the instance. */
export interface Call {
  /** Such as `grants.v1.ProjectService/AddProject`. */
  operation: string
  request: Fields
  organization?: string | undefined
}
