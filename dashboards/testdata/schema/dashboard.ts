// The dashboard type of Grafana's own package, narrowed to the panels of our dashboards.
import type { AnnotationQuery, DataQuery, FieldConfig, MatcherConfig, Panel, RowPanel, Dashboard as Whole } from '@grafana/schema';
import type * as heatmap from '@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen';
import type * as nodeGraph from '@grafana/schema/dist/esm/raw/composable/nodegraph/panelcfg/x/NodeGraphPanelCfg_types.gen';
import type * as stat from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type * as table from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type * as timeseries from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

// JSON has the value of an enumeration member where the types have its name.
type Written<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Written<T[K]> } : T;

// The package has no types for Prometheus queries.
interface Query extends DataQuery {
  expr: string;
  legendFormat?: string;
  format: 'time_series' | 'table' | 'heatmap';
  range: boolean;
  instant: boolean;
  exemplar: boolean;
  datasource: { type: 'prometheus'; uid: '${datasource}' };
}

type Shown<Type, Options, Custom> = Omit<Panel, 'type' | 'options' | 'fieldConfig' | 'targets'> & {
  type: Type;
  options: Options;
  targets: Query[];
  fieldConfig: {
    defaults: Omit<FieldConfig, 'custom'> & { custom?: Custom };
    overrides: Array<{ matcher: MatcherConfig<string>; properties: Array<{ id: string; value?: unknown }> }>;
  };
};

// The package @grafana/prometheus reads these fields of an annotation. It has no type for them.
interface Annotation extends Omit<AnnotationQuery, 'target'> {
  expr: string;
  step: string;
  titleFormat: string;
  textFormat: string;
  tagKeys: string;
}

type Shows =
  | Shown<'timeseries', timeseries.Options, timeseries.FieldConfig>
  | Shown<'stat', stat.Options, never>
  | Shown<'heatmap', heatmap.Options, heatmap.FieldConfig>
  | Shown<'nodeGraph', nodeGraph.Options, never>
  | Shown<'table', table.Options, Partial<table.FieldConfig>>;

export type Dashboard = Written<
  Omit<Whole, 'panels' | 'annotations'> & {
    annotations: { list: Annotation[] };
    panels: Array<(Omit<RowPanel, 'panels'> & { panels: Shows[] }) | Shows>;
  }
>;
