/**
 * How far a database has come. `off`: nothing is sealed, because a former release may run beside this one. `begun`: new
 * rows are sealed, and earlier ones are on their way. `on`: no row is plain.
 */
export type Phase = 'off' | 'begun' | 'on'
