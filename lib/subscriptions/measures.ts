import { counter, gauge } from '../telemetry/instruments.ts'

export const followed = counter({
  name: 'roster.follower.events',
  unit: '{event}',
  description: 'events on which a follower worked, such as the removal of what belongs to a removed user',
  labels: { 'roster.follower': 'follower' },
})

export const followerAge = gauge({
  name: 'roster.follower.looked.age',
  unit: 's',
  description: 'how long ago a follower last looked for events with success; it looks every five seconds',
  labels: { 'roster.follower': 'follower' },
})

export const followerLag = gauge({
  name: 'roster.follower.lag',
  unit: '{event}',
  description: 'committed events, of any type, at which a follower did not look yet; the count ends at 10,001',
  labels: { 'roster.follower': 'follower' },
})

export const followerLagAge = gauge({
  name: 'roster.follower.lag.age',
  unit: 's',
  description:
    'how long the first of these events has waited, or how long they could not be counted; up to some seconds ' +
    'are normal',
  labels: { 'roster.follower': 'follower' },
})
