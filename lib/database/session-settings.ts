/**
 * The search path of each session: PostgreSQL's own names, and then the schema of the role. It is set at each connect,
 * so a setting of the role cannot change it.
 */
export const ownSchema = '"$user"'

/**
 * What the session of a service needs beside its search path. Each connection sets it in its first message. A pooler
 * leaves that out, so `provision` keeps it with the roles, too.
 * Every statement must find its rows by an index. PostgreSQL keeps plans, and its statistics are a minute late. So a
 * plan from the time of a small table would still scan the whole table long after it has grown. What forbids other plans
 * is a cost beyond every threshold of JIT, which would then compile each statement for seconds.
 */
export const sessionSettings = {
  statement_timeout: 30_000,
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
} as const
