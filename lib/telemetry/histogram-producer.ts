import { ValueType } from '@opentelemetry/api'
import { hrTime } from '@opentelemetry/core'
import { emptyResource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  DataPointType,
  type HistogramMetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import type { Counted } from './instruments.ts'

/** Hands what histograms have counted since the start to the SDK's readers. */
export function produceHistograms(histograms: Counted[]): MetricProducer {
  const startTime = hrTime()
  const read = ({ name, unit, description, bounds, points }: Counted): HistogramMetricData => ({
    descriptor: { name, unit, description, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: [...points()].map(({ attributes, counts, count, sum }) => ({
      startTime,
      endTime: hrTime(),
      attributes,
      value: { buckets: { boundaries: bounds, counts: [...counts] }, count, sum },
    })),
  })
  return {
    async collect() {
      const metrics = histograms.map(read).filter(({ dataPoints }) => dataPoints.length > 0)
      const scopeMetrics = metrics.length > 0 ? [{ scope: { name: 'roster' }, metrics }] : []
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] }
    },
  }
}
